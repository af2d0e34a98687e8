"""Files of translation models and their input."""
