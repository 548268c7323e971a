// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.local.ChildSpec.Role;
import dev.kvpool.dataplane.local.PoolProbe.PoolState;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;

/**
 * Keeps the children of a local pool: starts them, tells when the pool is ready, looks after the dead, stops all. One
 * thread does everything, a round every {@link #ROUND}.
 */
final class Supervisor {
    private static final Duration ROUND = Duration.ofMillis(100);

    /** Time a child has to stop by itself; less than what {@link dev.kvpool.dataplane.cli.StopSignal} allows for all. */
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(8);

    private final List<Supervised> children;
    private final Function<ChildSpec, Path> logs;
    private final Launcher launcher;
    private final boolean restart;
    private final Console console;
    private final Clock clock;

    /** Starts the process of a child. */
    interface Launcher {
        Child start(ChildSpec spec) throws IOException;
    }

    Supervisor(
            List<ChildSpec> specs,
            Function<ChildSpec, Path> logs,
            Launcher launcher,
            boolean restart,
            Console console,
            Clock clock) {
        this.children = specs.stream().map(Supervised::new).toList();
        this.logs = logs;
        this.launcher = launcher;
        this.restart = restart;
        this.console = console;
        this.clock = clock;
    }

    void startAll() throws FailureException {
        for (Supervised place : children) {
            start(place);
        }
    }

    /** Waits until the pool is ready; false when local was asked to stop before. */
    boolean awaitReady(PoolProbe probe, int nodes, Duration timeout) throws FailureException, InterruptedException {
        Instant deadline = clock.instant().plus(timeout);
        PoolState state = probe.ask(nodes);
        while (!state.ready()) {
            if (console.stop().await(ROUND)) {
                return false;
            }
            lookAfterChildren();
            failIfOneIsGone();
            if (clock.instant().isAfter(deadline)) {
                children.forEach(this::showLog);
                throw new FailureException("not ready within " + timeout.toSeconds() + " s (--ready-timeout): "
                        + state.sentence() + "; the last lines of the logs are above");
            }
            state = probe.ask(nodes);
        }
        return true;
    }

    /** Looks after the children until local is asked to stop, or none is left. */
    void watch() throws FailureException, InterruptedException {
        while (!console.stop().await(ROUND)) {
            lookAfterChildren();
            if (children.stream().noneMatch(Supervised::hasFuture)) {
                throw new FailureException("no process is left");
            }
        }
    }

    /** Masters first, so that the leader gives its leadership back before its nodes go. */
    void stopAll() throws InterruptedException {
        stop(Role.MASTER);
        stop(Role.NODE);
    }

    private void stop(Role role) throws InterruptedException {
        List<Child> running = children.stream()
                .filter(place -> place.spec().role() == role && place.isAlive())
                .map(Supervised::child)
                .toList();
        running.forEach(Child::askToStop);
        Instant deadline = clock.instant().plus(STOP_PATIENCE);
        for (Child child : running) {
            Duration left = Duration.between(clock.instant(), deadline);
            if (!child.awaitEnd(left.isNegative() ? Duration.ZERO : left)) {
                say(child.name() + " did not stop within " + STOP_PATIENCE.toSeconds() + " s and was killed");
            }
        }
    }

    private void lookAfterChildren() throws FailureException {
        for (Supervised place : children) {
            if (place.hasDied() && !console.stop().isAsked()) {
                tellDeath(place);
            }
            if (place.isDue(clock.instant())) {
                start(place);
            }
            LogBound.keep(logs.apply(place.spec()));
        }
    }

    private void tellDeath(Supervised place) {
        Child dead = place.child();
        print("exited " + dead.name() + " pid=" + dead.pid() + " " + dead.reason());
        if (!restart) {
            showLog(place);
            place.leaveDead();
            say("going on without " + dead.name() + "; with --restart it would be started again");
        } else if (!place.planRestart(clock.instant())) {
            showLog(place);
            say("gave up on " + dead.name() + ", which died " + RestartPolicy.QUICK_DEATHS_MAX
                    + " times in a row soon after its start");
        }
    }

    private void failIfOneIsGone() throws FailureException {
        for (Supervised place : children) {
            if (!place.hasFuture() && !place.hasDied()) {
                throw new FailureException(place.spec().name() + " did not start; its last lines are above, the whole"
                        + " log is " + logs.apply(place.spec()));
            }
        }
    }

    private void start(Supervised place) throws FailureException {
        try {
            Child child = launcher.start(place.spec());
            place.started(child, clock.instant());
            print("started " + child.name() + " pid=" + child.pid() + " port="
                    + place.spec().port());
        } catch (IOException e) {
            throw new FailureException("cannot start " + place.spec().name() + ": " + e.getMessage(), e);
        }
    }

    private void showLog(Supervised place) {
        LogTail.of(logs.apply(place.spec()))
                .forEach(line -> console.err().println(place.spec().name() + " | " + line));
    }

    private void print(String line) {
        console.out().println(line);
        console.out().flush();
    }

    private void say(String sentence) {
        console.err().println("kvpool local: " + sentence);
    }
}
