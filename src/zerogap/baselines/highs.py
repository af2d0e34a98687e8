"""HiGHS behind one function: maximise a linear objective over binary or continuous variables in [0, upper]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zerogap.errors import ZerogapError
from zerogap.grid import Scores

LARGEST_COST = 1e12
Row = tuple[Sequence[int], Sequence[float], float, float]  # columns, coefficients, lower and upper limit


def maximise(objective: Scores, upper: Scores, rows: Sequence[Row], *, integer: bool, time_limit: float | None = None) -> Scores | None:
    """The values of the variables at an optimum by HiGHS's account; None if infeasible or nothing was found in time."""
    if len(objective) == 0:  # HiGHS calls such a program empty, feasible or not
        return np.zeros(0) if all(low <= 0.0 <= high for _, _, low, high in rows) else None
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    solver.setOptionValue("mip_rel_gap", 0.0)  # the default calls 1e-4 optimal
    solver.setOptionValue("mip_abs_gap", 0.0)
    if time_limit is not None:
        solver.setOptionValue("time_limit", float(time_limit))
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(objective), len(rows)
    scale = float(np.abs(objective).max(initial=0.0))
    if scale > LARGEST_COST:  # HiGHS takes 1e20 for infinity
        objective = objective / scale
    program.col_cost_, program.col_lower_, program.col_upper_ = objective, np.zeros(len(objective)), upper
    program.row_lower_ = np.array([row[2] for row in rows])
    program.row_upper_ = np.array([row[3] for row in rows])
    program.sense_ = highspy.ObjSense.kMaximize
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.concatenate([[0], np.cumsum([len(row[0]) for row in rows])]).astype(np.int32)
    program.a_matrix_.index_ = np.array([c for row in rows for c in row[0]], dtype=np.int32)
    program.a_matrix_.value_ = np.array([v for row in rows for v in row[1]], dtype=np.float64)
    if integer:
        program.integrality_ = [highspy.HighsVarType.kInteger] * len(objective)
    solver.passModel(program)
    solver.run()
    status = solver.getModelStatus()
    if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
        return None
    if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit):
        raise ZerogapError(f"HiGHS stopped with {solver.modelStatusToString(status)}: expected an optimal solution.")
    if solver.getInfo().primal_solution_status != int(highspy.SolutionStatus.kSolutionStatusFeasible):
        return None
    return np.array(solver.getSolution().col_value)
