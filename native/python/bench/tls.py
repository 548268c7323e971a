# SPDX-License-Identifier: Apache-2.0
"""What TLS costs: a pool that has it off, one that requires it, and one that requires it and has payloads authenticated alone
(auth), measured in turn by a native client; prints ratios.

    tls.py --kvpool dist/bin/kvpool --bench native/build/release/bench/kv_tls_bench [--rounds 5] [--takeovers 3]
           [--own-network] [--json FILE]

1 MiB x 32   batches over loopback: one master, one storage node, tcp
4 Gbit/s     the same with the link held to that, by tc in a network of its own: with --own-network, which says that this
             process runs in one (unshare --net, as `make bench WHAT=tls` does)
4 KiB        gets alone, one after the other; puts in batches of 32, with the processor time of the leader for each
handshakes   complete ones, with certificates of both ends, by 4 threads of a client; the machine's processors are shared
             by both ends
takeover     two masters at rest, 1,000 clients in one thread; the leader gets SIGKILL, is not started again, and each client
             asks for an object at once; with TLS clients are connected to the standby before, as they always are, or, for
             comparison, are not

In each round one side is measured after the other, in the opposite order in every second round. A ratio is the median over
the rounds, with the lowest and the highest. Handshakes and takeovers are the same with payloads authenticated, so they are
not measured with it. Wants 3.5 GiB of /dev/shm. Exits with 0 also when a target is missed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

from local_pool import LocalPool

SIDES = ("off", "on", "auth")
TAKEOVER_SIDES = ("off", "on")
CLIENTS = 1000
STANDBYS = {"off": 0, "on": 1}  # as clients have
LINK = "4gbit"
BENCH_SECONDS = 120
HANDSHAKE_ROUNDS = 3
WARM_ROUNDS_MAX = 30
WARM_ROUNDS_ALIKE = 4
LEADERS_TIME = "leader's CPU for a put"

# Of the ratio of a side to off, or of what is measured with TLS: (case, which, at least or at most, how much).
TARGETS = [
    ("put 1 MiB x 32, 4 Gbit/s", "on / off", ">=", 0.9),
    ("get 1 MiB x 32, 4 Gbit/s", "on / off", ">=", 0.9),
    ("put 1 MiB x 32", "on / off", ">=", 0.45),
    ("get 1 MiB x 32", "on / off", ">=", 0.45),
    ("put 1 MiB x 32", "auth / off", ">=", 0.97),
    ("get 1 MiB x 32", "auth / off", ">=", 0.97),
    ("get 4 KiB p50", "on / off", "<=", 1.3),
    (LEADERS_TIME, "on / off", "<=", 1.1),
    ("first call p99", "on", "<=", 100),
]


class Results:
    """Values by case and side, one for each round."""

    def __init__(self):
        self.values, self.units = {}, {}

    def add(self, side, measured, suffix=""):
        for case, value, unit in measured:
            self.units[case + suffix] = unit
            self.values.setdefault(case + suffix, {name: [] for name in SIDES})[side].append(value)

    def ratios(self, case, side):
        both = self.values[case]
        return [on / off for off, on in zip(both["off"], both[side], strict=False) if off]

    def middle(self, case, side):
        values = self.values[case][side]
        return statistics.median(values) if values else None


class BenchError(Exception):
    """What the native client said when it could not measure."""


class Bench:
    """Runs the native client."""

    def __init__(self, binary):
        self._binary = binary

    def __call__(self, what, where, pool, *more):
        directory = str(pool.tls_directory or "-")
        command = [self._binary, what, where, directory, *map(str, more)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=BENCH_SECONDS)
        except subprocess.TimeoutExpired:
            raise BenchError(f"{what}: not over after {BENCH_SECONDS} s") from None
        if done.returncode != 0:
            raise BenchError(f"{what}: {done.stderr[-2000:].strip()}")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [(line["case"], line["value"], line["unit"]) for line in lines]


def in_turn(rounds, sides=SIDES):
    """(round, side) so that no side is always the first."""
    return [(number, side) for number in range(rounds) for side in (sides if number % 2 == 0 else sides[::-1])]


def say(text):
    print(text, file=sys.stderr, flush=True)


def warm_up(bench, pool, leader):
    """Until Java has compiled what a put takes, since the compiler's time is the leader's too. Answers after how many rounds."""
    least = float("inf")
    since = 0
    for number in range(WARM_ROUNDS_MAX):
        measured = bench("small", pool.masters, pool, f"warm-{number}", leader)
        spent = next(value for case, value, _ in measured if case == LEADERS_TIME)
        since = 0 if spent < 0.95 * least else since + 1
        least = min(least, spent)
        if since == WARM_ROUNDS_ALIKE:
            return number + 1
    return WARM_ROUNDS_MAX


def speed(options, bench, results):
    """Bulk, small and handshakes; answers why the link could not be held, or None."""
    common = (options.kvpool, 1, 1, "1GiB", "--protocols", "tcp")
    bare = ("--payloads", "authenticated")
    with LocalPool(*common) as off, LocalPool(*common, tls=True) as on, LocalPool(*common, *bare, tls=True) as auth:
        pools = {"off": off, "on": on, "auth": auth}
        leaders = {side: pool.pids[pool.wait_whole()] for side, pool in pools.items()}
        for side, pool in pools.items():
            bench("bulk", pool.masters, pool, "warm")  # memory is made
            say(f"{side}: warm after {warm_up(bench, pool, leaders[side])} rounds")
        for number, side in in_turn(options.rounds):
            pool = pools[side]
            results.add(side, bench("bulk", pool.masters, pool, f"bulk-{number}"))
            results.add(side, bench("small", pool.masters, pool, f"small-{number}", leaders[side]))
        say(f"speed: {options.rounds} rounds done")
        problem = "needs a network of its own, which this machine does not give"
        if options.own_network:
            problem = hold_link("add", "rate", LINK, "burst", "1mb", "latency", "50ms")
        if problem is None:
            for number, side in in_turn(options.rounds):
                pool = pools[side]
                results.add(side, bench("bulk", pool.masters, pool, f"link-{number}"), ", 4 Gbit/s")
            hold_link("del")
            say(f"link: {options.rounds} rounds done")
        for number in range(1 + HANDSHAKE_ROUNDS):
            measured = bench("handshakes", on.masters, on, "master", leaders["on"])
            measured += bench("handshakes", on.nodes[0], on, "node-0", on.pids["node-0"])
            if number > 0:  # Java compiles
                results.add("on", measured)
        say("handshakes done")
    return problem


def hold_link(verb, *how):
    """By tc; answers why not, or None."""
    command = ["tc", "qdisc", verb, "dev", "lo", "root", *(["tbf", *how] if how else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return "needs tc (Debian: iproute2)"
    return None if done.returncode == 0 else f"{' '.join(command)}: {done.stderr.strip()}"


def takeovers(options, bench, results):
    """Answers why one was not measured, or None."""
    runs = [(side, STANDBYS[side], "") for _, side in in_turn(options.takeovers, TAKEOVER_SIDES)]
    runs.append(("on", 0, ", no standby"))
    problem = None
    for side, standbys, suffix in runs:
        # A pool for each: elsewhere what starts a dead master again does not take the processors of those that go on.
        with LocalPool(options.kvpool, 2, 1, "64MiB", "--protocols", "tcp", tls=side == "on", restart=False) as pool:
            leader = pool.pids[pool.wait_whole()]
            pool.wait_at_rest()
            try:
                measured = bench("takeover", pool.masters, pool, options.clients, leader, standbys)
            except BenchError as failure:
                problem = str(failure)
                say(f"TLS {side}, {standbys} standbys: {problem}")
                continue
        results.add(side, measured, suffix)
        say(f"takeover with TLS {side}, {standbys} standbys, done")
    return problem


def number_of(value):
    return "" if value is None else f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def report(results):
    heads = "".join(f"{side:>10}" for side in SIDES)
    print(f"\n{'case':40}{'unit':>6}{heads}{'on / off':>10}  lowest to highest{'auth / off':>12}  lowest to highest")
    for case in results.values:
        row = f"{case:40}{results.units[case]:>6}"
        row += "".join(f"{number_of(results.middle(case, side)):>10}" for side in SIDES)
        for side, width in (("on", 10), ("auth", 16)):
            if ratios := results.ratios(case, side):
                row += f"{statistics.median(ratios):{width}.2f}  {min(ratios):.2f} to {max(ratios):.2f}"
        if not results.ratios(case, "on"):
            some = results.values[case]["on"] or results.values[case]["off"]
            row += f"{'':10}  {number_of(min(some))} to {number_of(max(some))}"
        print(row)


def targets(results, problems):
    """What was wanted and what came of it; `problems` by what cases end with."""
    print(f"\n{'target':46}{'measured':>10}  met")
    for case, kind, comparison, wanted in TARGETS:
        unit = " " + (results.units.get(case, "") if kind == "on" else kind)
        name = f"{case}{unit} {comparison} {wanted}"
        if case not in results.values:
            why = [problem for end, problem in problems.items() if case.endswith(end) and problem]
            print(f"{name:46}{'':>10}  not measured: {why[0] if why else 'left out'}")
            continue
        ratios = results.ratios(case, kind.split()[0])
        got = results.middle(case, "on") if kind == "on" else statistics.median(ratios) if ratios else None
        if got is None:
            print(f"{name:46}{'':>10}  not measured: one side failed")
            continue
        met = got >= wanted if comparison == ">=" else got <= wanted
        print(f"{name:46}{number_of(got):>10}  {'yes' if met else 'NO'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvpool", required=True, help="dist/bin/kvpool")
    parser.add_argument("--bench", required=True, help="kv_tls_bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--takeovers", type=int, default=3, help="rounds of them; 0: none")
    parser.add_argument("--clients", type=int, default=CLIENTS, help="of takeovers")
    parser.add_argument(
        "--own-network", action="store_true", help="this process may do what it likes with the loopback device"
    )
    parser.add_argument("--json", help="also write all values to this file")
    options = parser.parse_args()
    if options.own_network:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    bench, results, problems = Bench(os.path.abspath(options.bench)), Results(), {}
    if options.rounds:
        problems["Gbit/s"] = speed(options, bench, results)
    if options.takeovers:
        problems["p99"] = takeovers(options, bench, results)
    report(results)
    targets(results, problems)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"values": results.values, "units": results.units}, file, indent=2)


if __name__ == "__main__":
    main()
