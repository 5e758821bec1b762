"""Our grader against Math-Verify alone and the paper's rules alone: right verdicts, hangs, speed.

    python benchmarks/grading.py PAIRS.jsonl [--data DATA] [--repeats 5]

PAIRS holds lines {"given", "truth", "equal"}. Math-Verify is called as its own documentation shows (both
sides in `$ $`, parse and verify with its own time limits, in the main thread of one process); the paper's
rules are our writing of them, in the same worker process as ever. A verdict counts as right when it says what
"equal" says; "cannot tell", a crash or a timeout is not right. A hang is a pair that takes longer than the
limit. Verdicts per second: every run starts a new process (cache cold, start-up counted) and grades up to 800
pairs of a set once; the median of several runs, ours and Math-Verify's alternating. With --data also the
GSM8K example solutions, the Qwen samples, and every MATH answer against itself.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))
Pairs = list[tuple[str | None, str | None]]
LIMIT_S = 5
GRACE_S = 3.0
TIMED = 800


def math_verify_alone(pairs: Pairs, tell: Any) -> None:
    """One process, main thread, its own limits; "timeout" where it gives up by itself."""
    from math_verify import parse, verify
    from math_verify.errors import TimeoutException

    for given, truth in pairs:
        try:
            sides = [parse(f"${text}$", parsing_timeout=LIMIT_S) for text in (truth or "", given or "")]
            tell("right" if verify(*sides, timeout_seconds=LIMIT_S) else "wrong")
        except TimeoutException:
            tell("timeout")
        except Exception as error:  # noqa: BLE001 - a crash is a result here
            tell(type(error).__name__)


def paper_alone(pairs: Pairs, tell: Any) -> None:
    """The paper's rules, one process."""
    from models_prm.answers.paper import paper_vote

    sys.setrecursionlimit(60_000)
    for given, truth in pairs:
        try:
            tell(paper_vote(given or "", truth or "").value)
        except Exception as error:  # noqa: BLE001
            tell(type(error).__name__)


def ours(pairs: Pairs, tell: Any) -> None:
    """Our cascade with one worker process."""
    from models_prm.answers import GraderPool

    with GraderPool(1, LIMIT_S) as pool:
        for grade in pool.grade_many(pairs):
            tell(grade.verdict.value)


WAYS = {"ours": ours, "math-verify": math_verify_alone, "paper": paper_alone}


def child(way: str) -> int:
    """The process that is timed: pairs on stdin, one verdict a line on stdout."""
    pairs: Pairs = [tuple(pair) for pair in json.loads(sys.stdin.read())]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print
    WAYS[way](pairs, lambda verdict: print(verdict, file=out, flush=True))
    return 0


def run(way: str, pairs: Pairs, limit_s: float) -> tuple[list[str], float]:
    """Verdicts of one new process, and its seconds; cut off at the limit, with what it had said by then."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, __file__, "--child", way],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        said, _ = process.communicate(json.dumps(pairs), timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
    return said.split(), time.perf_counter() - begin


def verdicts_one_by_one(way: str, pairs: Pairs) -> tuple[list[str], float, int]:
    """Every pair with a hard limit of its own: after a pair that hangs a new process goes on behind it."""
    if way == "ours":
        said, seconds = run(way, pairs, 60.0 + 2 * LIMIT_S * len(pairs))
        return said, seconds, 0
    verdicts: list[str] = []
    seconds, hangs = 0.0, 0
    while len(verdicts) < len(pairs):
        rest = pairs[len(verdicts) :]
        said, took = run_until_stuck(way, rest)
        seconds += took
        verdicts += said
        if len(said) < len(rest):
            verdicts.append("hang")
            hangs += 1
    return verdicts, seconds, hangs


def run_until_stuck(way: str, pairs: Pairs) -> tuple[list[str], float]:
    """Verdicts until one takes longer than twice Math-Verify's own limits together."""
    import selectors

    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, __file__, "--child", way],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(pairs).encode())
    process.stdin.close()
    selector, said = selectors.DefaultSelector(), b""
    selector.register(process.stdout, selectors.EVENT_READ)
    patience = 30.0
    while selector.select(patience):
        more = os.read(process.stdout.fileno(), 65536)
        if not more:
            break
        said, patience = said + more, 3 * LIMIT_S + GRACE_S
    process.kill()
    process.wait()
    return said.decode().split(), time.perf_counter() - begin


def data_sets(folder: Path) -> Iterator[tuple[str, Pairs]]:
    """Real pairs: extracted answers and their truths."""
    from models_prm.answers import extract_answer

    rows = [
        json.loads(line) for line in (folder / "gsm8k/example_model_solutions.jsonl").open(encoding="utf-8")
    ]
    yield (
        "GSM8K example solutions",
        [
            (extract_answer(sample["solution"]), extract_answer(row["ground_truth"]))
            for row in rows
            for sample in row.values()
            if isinstance(sample, dict)
        ],
    )
    rows = [json.loads(line) for line in (folder / "qwen-math-rm8/math_cot_100.jsonl").open(encoding="utf-8")]
    yield (
        "Qwen samples of MATH",
        [(extract_answer(text), row["answer"]) for row in rows for text in row["response"]],
    )
    tests = [json.loads(line)["answer"] for line in (folder / "math/math500.jsonl").open(encoding="utf-8")]
    trains = json.loads((folder / "math/train_problems_and_answers.json").read_text(encoding="utf-8"))
    answers = tests + [row["final_answer"] for row in trains]
    yield "MATH answers against themselves", [(answer, answer) for answer in answers]
    distinct = sorted({a for a in answers if a})
    yield "neighbouring MATH answers", list(zip(distinct[::3], distinct[1::3], strict=False))


def compare(name: str, pairs: Pairs, repeats: int, limit_s: float) -> dict[str, Any]:
    """Verdicts per second of both, medians of alternating cold runs."""
    rates: dict[str, list[float]] = {"ours": [], "math-verify": []}
    for _ in range(repeats):
        for way, found in rates.items():
            said, seconds = run(way, pairs, limit_s)
            found.append(len(said) / seconds)
    medians = {way: statistics.median(found) for way, found in rates.items()}
    row = {"set": name, "pairs": len(pairs), **medians, "ratio": medians["ours"] / medians["math-verify"]}
    print(
        f"{name:<36}{len(pairs):>7}{medians['ours']:>12,.0f}{medians['math-verify']:>14,.0f}{row['ratio']:>9.2f}"
    )
    return row


def sampled(pairs: Pairs) -> Pairs:
    """At most so many pairs for the clock, spread over the set."""
    return pairs[:: -(-len(pairs) // TIMED)]


def main() -> int:
    """Compare, print tables and JSON; exit code 1 when ours is behind anywhere."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pairs", type=Path, nargs="?", help="JSONL of given, truth, equal")
    parser.add_argument("--data", type=Path, help="folder of data sets for real pairs")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--child", choices=WAYS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        return child(args.child)
    if args.pairs is None:
        parser.error("name the file of pairs")
    rows = [json.loads(line) for line in args.pairs.open(encoding="utf-8") if line.strip()]
    report: dict[str, Any] = {"verdicts": judged(rows)}
    print(f"\n{'verdicts per second, cache cold':<36}{'pairs':>7}{'ours':>12}{'math-verify':>14}{'ratio':>9}")
    quiet = [row for row in rows if "hostile" not in row.get("note", "")]
    plain: Pairs = [(row["given"], row["truth"]) for row in quiet]
    sets = [("pairs that are not hostile", plain), *(data_sets(args.data) if args.data else ())]
    report["speed"] = [compare(name, sampled(pairs), args.repeats, 300.0) for name, pairs in sets]
    if args.data:
        answers = next(pairs for name, pairs in sets if name.startswith("MATH answers"))
        said, _ = run("ours", answers, 300.0)
        report["self_equality"] = {v: said.count(v) for v in sorted(set(said))}
        print(f"\nself-equality of {len(answers)} MATH answers: {report['self_equality']} (2 are empty)")
    print(json.dumps(report, indent=2))
    best = max(report["verdicts"][way]["right"] for way in ("math-verify", "paper"))
    behind = any(row["ratio"] < 1 for row in report["speed"])
    return int(behind or report["verdicts"]["ours"]["right"] <= best)


def judged(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Right verdicts, hangs and seconds of each way over the pairs with people's opinion."""
    pairs: Pairs = [(row["given"], row["truth"]) for row in rows]
    result: dict[str, Any] = {}
    print(f"{'right verdicts':<36}{'pairs':>7}{'right':>12}{'hangs':>14}{'seconds':>9}")
    for way in WAYS:
        said, seconds, hangs = verdicts_one_by_one(way, pairs)
        wanted = ["right" if row["equal"] else "wrong" for row in rows]
        missed = [
            {"note": row.get("note", ""), "said": verdict}
            for row, verdict, want in zip(rows, said, wanted, strict=True)
            if verdict != want
        ]
        right = len(rows) - len(missed)
        result[way] = {"right": right, "of": len(rows), "hangs": hangs, "seconds": seconds, "missed": missed}
        print(f"{way:<36}{len(rows):>7}{right:>12}{hangs:>14}{seconds:>9.1f}")
    return result


if __name__ == "__main__":
    raise SystemExit(main())
