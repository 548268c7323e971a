#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak.py MINUTES [PART...]: simulation, mutants, chaos, fuzzers and events, one after the other, for so long in all.

Builds first, which does not count. Closes with one table: what ran, how much of it, what failed and how to repeat that.
Exits 1 when something failed, a build or a part that could not be tried included. Each run draws other seeds; the
output of each part is in target/soak/PART.log.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "target" / "soak"
SEEDS_MAX = 1 << 40
MAVEN = "mvn -B -ntp -q"
SIMULATION = "data-plane/target/sim-classpath"
LEADER_KILLS = 20  # of one run of the events' test, which CI runs with fewer


@dataclass
class Failure:
    what: str
    again: str


@dataclass
class Outcome:
    """What came of one part. `wanted` is how long it was to take."""

    wanted: float
    seconds: float = 0.0
    amount: str = "nothing"
    failures: list[Failure] = field(default_factory=list)


def run(command: str, log: Path, **more: str) -> tuple[int, str]:
    """Runs a command to its end, with its output in the log; all its processes end with this one."""
    with log.open("a") as out:
        out.write(f"$ {command}\n")
        out.flush()
        begin = log.stat().st_size
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=ROOT,
            env={**os.environ, **more},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
            raise
    with log.open("rb") as written:
        written.seek(begin)
        return status, written.read().decode(errors="replace")


def unexplained(status: int, outcome: Outcome, log: Path) -> None:
    """A part that ended badly has failed, also when it told of no failure in words that are known here."""
    if status != 0 and not outcome.failures:
        outcome.failures.append(Failure(f"ended with exit code {status}", f"see {log.relative_to(ROOT)}"))


def simulation(seconds: float, log: Path, outcome: Outcome) -> None:
    """Seeds from a random one on. After one that fails it goes on with the next."""
    first = random.randrange(1 << 30)
    until = time.monotonic() + seconds
    held = 0
    while (left := until - time.monotonic()) > 0:
        status, text = run(
            '"$(.ci/java-home)/bin/java" -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED '
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED "
            "-Dkvpool.sim.library=native/build/release/test/sim/libkvpool_sim.so "
            f'-cp "data-plane/target/test-classes:data-plane/target/classes:native/target/classes:$(<{SIMULATION})" '
            f"dev.kvpool.dataplane.sim.SeedRun {first} {SEEDS_MAX} {left / 60:.3f}",
            log,
        )
        last = [int(seed) for seed in re.findall(r"^seeds \d+ to (-?\d+) hold", text, re.MULTILINE)]
        failed = re.search(r"^FAILED after (\d+) seeds: seed (\d+) .*it tells more\): (.*)", text, re.MULTILINE)
        if not failed:
            held += max(0, last[-1] - first + 1) if last else 0
            outcome.amount = f"{held} seeds"
            unexplained(status, outcome, log)
            return
        held += int(failed[1]) - 1
        first = int(failed[2]) + 1
        outcome.amount = f"{held} seeds"
        again = f"mvn -pl native,data-plane -am test -Dtest=SimulationTest -Dsurefire.failIfNoSpecifiedTests=false \
-Dkvpool.sim.seed={failed[2]}"
        outcome.failures.append(Failure(f"seed {failed[2]}: {failed[3]}", again))


def mutants(seconds: float, log: Path, outcome: Outcome) -> None:
    """In another order each time, as many as there is time for: each must be found."""
    names = [patch.stem for patch in (ROOT / "data-plane/src/test/sim-mutants").glob("*.patch")]
    random.shuffle(names)
    status, text = run(f"data-plane/sim-mutants {' '.join(names)}", log, WITHIN_SECONDS=str(round(seconds)))
    rows = re.findall(r"^\| (\S+) \| (.*) \| \d+ \|$", text, re.MULTILINE)
    outcome.amount = f"{len(rows)} of {len(names)} planted bugs"
    outcome.failures += [
        Failure(f"{name} is not found", f"make sim-mutants ARGS={name}") for name, by in rows if by == "NOT FOUND"
    ]
    if not rows:
        outcome.failures.append(Failure("no planted bug was tried to its end", "with more MINUTES"))
    unexplained(status, outcome, log)


def chaos(seconds: float, log: Path, outcome: Outcome) -> None:
    """Half of the time with nodes that are away for longer than they are waited for, and what they miss of removals."""
    operations = faults = 0
    for absences in ("", " --replicas 2 --absence 90"):
        seed = random.randrange(1 << 32)
        command = f"e2e/chaos/run --minutes {seconds / 120:.3f} --seed {seed}{absences}"
        status, text = run(command, log)
        load = re.search(r"^seed \d+, \d+ s, (\d+) operations", text, re.MULTILINE)
        struck = re.search(r"^(\d+) faults;", text, re.MULTILINE)
        verdict = re.search(r"^wrong reads: .*", text, re.MULTILINE)
        operations += int(load[1]) if load else 0
        faults += int(struck[1]) if struck else 0
        outcome.amount = f"{operations} operations, {faults} faults"
        if status != 0:
            what = verdict[0] if verdict else f"it could not be tried, exit code {status}"
            outcome.failures.append(Failure(what, command))


def fuzzers(seconds: float, log: Path, outcome: Outcome) -> None:
    targets = len(list((ROOT / "native/test/fuzz").glob("*_fuzz.cc")))
    status, text = run(".ci/fuzz", log, SECONDS_EACH=str(max(1, round(seconds / targets))))
    ended = re.findall(r"^== (\S+): (\d+) runs(?:, FAILED; again: (.*))?$", text, re.MULTILINE)
    outcome.amount = f"{sum(int(runs) for _, runs, _ in ended)} runs of {len(ended)} targets"
    outcome.failures += [Failure(target, again) for target, _, again in ended if again]
    unexplained(status, outcome, log)


def events(seconds: float, log: Path, outcome: Outcome) -> None:
    """Subscribers of one pool after the other, each exact after so many killed leaders; one at least."""
    command = 'SUITES=pool PYTHONS="${PYTHONS:-python3}" native/python/test -k leaders_are_killed'
    until = time.monotonic() + seconds
    kills = 0
    while not kills or time.monotonic() < until:
        status, text = run(command, log, LEADER_KILLS=str(LEADER_KILLS))
        passed = re.search(r"^(\d+) passed", text, re.MULTILINE)
        if status != 0 or not passed:
            outcome.failures.append(
                Failure(f"not exact after {LEADER_KILLS} kills", f"LEADER_KILLS={LEADER_KILLS} {command}")
            )
            return
        kills += LEADER_KILLS * int(passed[1])
        outcome.amount = f"{kills} killed leaders"


@dataclass(frozen=True)
class Part:
    build: str
    share: int  # of the time, compared with the others'
    run: Callable[[float, Path, Outcome], None]


BUILD_SIMULATION = (
    f'JAVA_HOME="$(.ci/java-home)" {MAVEN} -pl native,data-plane -am test-compile '
    "dependency:build-classpath -Dmdep.outputFile=target/sim-classpath"
)
PARTS = {
    "simulation": Part(BUILD_SIMULATION, 4, simulation),
    "mutants": Part(BUILD_SIMULATION, 2, mutants),
    "chaos": Part(".ci/dist bin wheels", 2, chaos),
    "fuzzers": Part(".ci/fuzz build", 2, fuzzers),
    "events": Part(".ci/dist bin wheels", 1, events),
}


def build(chosen: list[str], outcomes: dict[str, Outcome]) -> None:
    built: dict[str, int] = {}
    for name in chosen:
        command = PARTS[name].build
        if command not in built:
            print(f"building for {name} ...", flush=True)
            built[command], _ = run(command, LOGS / f"{name}.log")
        if built[command] != 0:
            outcomes[name].failures.append(Failure("it does not build", command))


def soak(chosen: list[str], outcomes: dict[str, Outcome]) -> None:
    build(chosen, outcomes)
    for name in chosen:
        outcome = outcomes[name]
        if outcome.failures:
            continue
        print(f"{name} for {outcome.wanted / 60:.1f} min ...", flush=True)
        begin = time.monotonic()
        try:
            PARTS[name].run(outcome.wanted, LOGS / f"{name}.log", outcome)
        finally:
            outcome.seconds = time.monotonic() - begin


def table(outcomes: dict[str, Outcome]) -> str:
    lines = ["| part | minutes | ran | failures |", "|---|---|---|---|"]
    again = []
    for name, outcome in outcomes.items():
        minutes = f"{outcome.seconds / 60:.1f} of {outcome.wanted / 60:.1f}"
        lines.append(f"| {name} | {minutes} | {outcome.amount} | {len(outcome.failures)} |")
        for failure in outcome.failures:
            again.append(f"{name}: {failure.what}\n    again: {failure.again}")
    return "\n".join([*lines, "", *again])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make soak", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("minutes", type=float)
    parser.add_argument("parts", nargs="*", default=[], help=", ".join(PARTS))
    given = parser.parse_args()
    chosen = given.parts or list(PARTS)
    if not 0 < given.minutes <= 7 * 24 * 60:
        parser.error("MINUTES must be more than 0 and at most a week")
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    LOGS.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        (LOGS / f"{name}.log").write_text("")
    shares = sum(PARTS[name].share for name in chosen)
    outcomes = {name: Outcome(given.minutes * 60 * PARTS[name].share / shares) for name in chosen}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    interrupted = True
    try:
        soak(chosen, outcomes)
        interrupted = False
    except KeyboardInterrupt:
        pass
    finally:
        print(f"\n{table(outcomes)}\n{'interrupted' if interrupted else ''}", flush=True)
    return 1 if interrupted or any(outcome.failures for outcome in outcomes.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
