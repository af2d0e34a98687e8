"""The page in a real browser: what people see, do with the keyboard, take away, and what must never happen."""

import json
import os
import shutil
import xml.etree.ElementTree as ET

import pytest

import zerogap
from tests.serve.conftest import Server
from zerogap.proof.lines import proof_in

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[browser]'")

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium: apt-get install chromium, or set CHROMIUM"),
]
EVIL = '<img src=x onerror="document.title=1"> <script>document.title=2</script> </text><svg onload=alert(3)>'


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])  # containers have no sandbox to nest
        yield found
        found.close()


@pytest.fixture
def visit(browser, server):
    """Opens the page; in the end, nothing may have gone wrong, and nothing may have been fetched from elsewhere."""
    contexts, wrong = [], []

    def opened(path="/", *, url=server.url, **options):
        options = {"reduced_motion": "reduce", "accept_downloads": True, **options}
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "console", lambda message: wrong.append(message.text) if message.type == "error" and "status of 4" not in message.text else None
        )
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: None if request.url.startswith((url, "blob:")) else wrong.append(request.url))
        page.goto(url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not wrong


def until(page, holds, seconds=20.0):
    """Waits; the browser itself may not, since the policy of the page forbids code in strings."""
    for _ in range(int(seconds / 0.03)):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(30)
    raise AssertionError(f"it did not come about: {holds}")


def decoded(page, text=None, task=None, methods=None):
    page.wait_for_selector("#tasks input")
    if task is not None:
        page.get_by_role("radio", name=task).check()
    if text is not None:
        page.fill("#input", text)
    if methods is not None:
        for box in page.query_selector_all("#methods input:checked"):
            box.uncheck()
        for method in methods:
            page.check(f"#methods input[value={method}]")
    page.click("#go")
    until(page, "!document.querySelector('#state').textContent.includes('…')")


def test_the_first_parse_is_there_at_once(visit):
    page = visit()
    page.wait_for_selector(".panel .badge.optimal")
    assert page.locator(".panel").count() == 2
    until(page, "!document.querySelector('#state').textContent.includes('…')")
    assert "the same score" in page.text_content("#state")
    for panel in page.locator(".panel").all():
        assert panel.locator(".picture svg .arc").count() == 14
        assert panel.locator(".picture svg").get_attribute("aria-label").startswith("Dependency tree: The depends on spy")


def test_scripts_are_text(visit):
    page = visit()
    title = page.title()
    decoded(page, EVIL)
    assert page.locator(".panel .badge").first.text_content()
    assert "<" in page.locator(".panel .picture").first.text_content()
    assert page.locator("#answers img, #answers script, #answers [onload], #answers [onerror]").count() == 0
    decoded(page, json.dumps({"format": EVIL}), task="Scores")
    assert EVIL.split()[0] in page.text_content("#panels")
    assert page.title() == title


def test_steps_by_keyboard(visit):
    page = visit()
    decoded(page, "Time flies like an arrow.", methods=["head-automata"])
    slider = page.get_by_role("slider")
    assert slider.is_visible()
    last = int(slider.get_attribute("max"))
    assert last > 2
    assert "agree on every arc" in page.text_content(".told")
    slider.focus()
    page.keyboard.press("Home")
    assert "disagree" in page.text_content(".told")
    assert page.locator(".picture .arc.doubt, .picture .arc.other").count() > 0
    bounds = []
    for _ in range(last):
        bounds.append(float(page.text_content(".numbers dd.bound")))
        page.keyboard.press("ArrowRight")
    assert bounds == sorted(bounds, reverse=True)
    assert page.text_content(".numbers dd.bound") == page.text_content(".numbers dd.score")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Next step"


def test_steps_are_played(visit):
    page = visit(reduced_motion="no-preference")
    decoded(page, "Time flies like an arrow.", methods=["head-automata"])
    until(page, "document.querySelector('.told')?.textContent.includes('agree on every arc.')")
    page.get_by_role("button", name="Play the steps").click()
    until(page, "document.querySelector('.told').textContent.includes('disagree')")
    page.get_by_role("button", name="Pause").click()


def test_everything_by_keyboard(visit):
    page = visit()
    page.wait_for_selector(".panel .badge.optimal")
    page.focus("#input")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Dogs bark.")
    page.keyboard.press("Control+Enter")
    until(page, "document.querySelector('.picture svg text.strong')?.textContent === 'Dogs'")
    page.focus("#tasks input:checked")
    page.keyboard.press("ArrowUp")  # from the first to the last
    assert page.text_content("#go") == "Verify"


def test_several_sentences(visit):
    page = visit()
    decoded(page, "Dogs bark. Cats sleep. Birds sing.")
    assert page.locator("#sentence option").all_text_contents() == ["1 of 3", "2 of 3", "3 of 3"]
    page.select_option("#sentence", "2")
    until(page, "document.querySelector('.picture svg text.strong')?.textContent === 'Birds'")


@pytest.mark.parametrize(("task", "text", "shown"), [
    ("Constituents", "the dog sees the cat", ["S", "NP", "dog"]), ("Labels", "Anna sees Bert", ["P", "O"]),
    ("Translation", "das haus", ["haus", "the house"]),
])  # fmt: skip
def test_other_tasks(visit, task, text, shown):
    page = visit()
    decoded(page, text, task=task)
    page.wait_for_selector(".panel .badge.optimal")
    found = page.locator(".picture svg text").all_text_contents()
    assert set(shown) <= set(found)


def test_constraints_are_named(visit):
    page = visit()
    decoded(page, "Anna sees Bert", task="Labels", methods=["relaxation"])
    assert "answer" in page.text_content(".panel .told")
    page.get_by_role("slider").press("Home")
    assert "at_most(P, 1)" in page.text_content(".panel .told")


def downloaded(page, name):
    with page.expect_download() as waiting:
        page.locator(".panel").first.get_by_role("button", name=name, exact=True).click()
    path = waiting.value.path()
    return waiting.value.suggested_filename, path.read_bytes()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_downloads(visit, scheme):
    page = visit(color_scheme=scheme)
    decoded(page, "Time flies.", methods=["head-automata"])
    name, svg = downloaded(page, "SVG")
    assert name == "parse-head-automata.svg"
    root = ET.fromstring(svg)
    assert {"Time", "flies", "."} <= {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert b"rgb(29, 32, 41)" in svg  # dark on white, whatever the page
    assert b"class=" not in svg
    assert downloaded(page, "PNG")[1].startswith(b"\x89PNG")
    assert b"1\tTime\t" in downloaded(page, "CoNLL-U")[1]
    assert ET.fromstring(downloaded(page, "Gap as SVG")[1]).tag.endswith("svg")
    name, proof = downloaded(page, "Certificate")
    assert name.endswith(".jsonl")
    assert "optimal" in str(zerogap.verify(*proof_in(proof.decode(), name)))


def test_certificates_that_are_pasted(visit):
    page = visit()
    decoded(page, "Time flies.")
    page.get_by_role("button", name="Verify it").first.click()
    page.wait_for_selector("text=The certificate holds.")
    assert page.locator(".checked li").count() >= 3
    value = json.loads(page.input_value("#input"))
    value["solution"]["bound"] -= 1
    decoded(page, json.dumps(value))
    assert "does not hold" in page.text_content("#state")
    decoded(page, "{")
    assert "not JSON" in page.text_content("#panels")


def test_scores(visit):
    page = visit()
    decoded(page, task="Scores")
    page.wait_for_selector(".panel .badge.optimal")
    assert page.locator("#methods input[value=price-and-cut]").count() == 1
    decoded(page, methods=["price-and-cut", "head-automata", "branch-and-bound"])
    assert page.locator("#methods input:disabled").count() > 0  # three are enough
    assert page.locator(".panel .badge.optimal").count() == 3
    told = page.locator(".panel").filter(has_text="price-and-cut")
    told.get_by_role("slider").press("Home")
    assert "linear program" in told.locator(".told").text_content()


def test_limits_are_told(visit):
    page = visit()
    decoded(page, "word " * 61)
    assert "61 words" in page.text_content("#panels")
    assert "limit: words" in page.text_content("#panels")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_wider_than_the_screen(visit, width):
    page = visit(viewport={"width": width, "height": 800}, is_mobile=True, has_touch=True)
    page.wait_for_selector(".panel .badge.optimal")
    for path in ("/", "/docs"):
        page.goto(page.url.rsplit("/", 1)[0] + path)
        page.wait_for_selector(".panel .badge.optimal, .operation")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.evaluate("[...document.querySelectorAll('button')].filter(b => b.offsetParent && b.offsetHeight < 24).length")
    assert small == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(visit, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(color_scheme=scheme)
    decoded(page, "The spy saw the cop with the telescope.")
    for details in page.locator("details").all():
        if details.is_visible():
            details.locator("summary").click()
    found = serious(axe.run(page))
    decoded(page, task="Verify", text="{")
    found += serious(axe.run(page))
    page.goto(page.url.rsplit("/", 1)[0] + "/docs")
    page.wait_for_selector(".operation")
    found += serious(axe.run(page))
    assert not found


def serious(results):
    return [
        f"{found['id']}: {found['help']}: {[node['target'] for node in found['nodes'][:3]]}"
        for found in results.response["violations"]
        if found["impact"] in ("serious", "critical")
    ]


def test_the_theme_is_kept(visit):
    page = visit(color_scheme="light")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != before
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    assert page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"


def test_the_interface_can_be_tried(visit):
    page = visit("/docs")
    section = page.locator(".operation").filter(has=page.get_by_text("/parse", exact=True))
    section.get_by_text("Try it").click()
    section.get_by_role("button", name="Send").click()
    until(page, "[...document.querySelectorAll('pre')].some(found => found.textContent.includes('arrow'))")


def test_tokens_are_asked_for(visit):
    locked = Server("--workers", "1", env={"ZEROGAP_TOKEN": "secret"})
    try:
        page = visit(url=locked.url)
        decoded(page, "Time flies.")
        assert "Bearer" in page.text_content("#panels")
        assert page.locator("#token").is_visible()
        page.fill("#token", "secret")
        decoded(page, "Time flies.")
        page.wait_for_selector(".panel .badge.optimal")
    finally:
        locked.stop()
