// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.preflight;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.preflight.Running.Kind;
import dev.kvpool.dataplane.preflight.Running.Member;
import dev.kvpool.dataplane.preflight.Verdict.Way;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.nativelib.VersionRange;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which builds may follow which. */
class PreflightTest {
    @ParameterizedTest(name = "{0}/{1} over nodes {2}/{3}: {4}")
    @CsvSource({
        // ours: wire, layout; every member: wire, layout; verdict
        "1-1, 1-1, 1-1, 1-1, ROLLING_WARM",
        "1-2, 1-2, 1-1, 1-1, ROLLING_WARM",
        "2-3, 1-2, 1-2, 1-1, ROLLING_WARM",
        "1-2, 2-2, 1-1, 1-1, ROLLING_DRAINED",
        "1-1, 1-1, 1-2, 1-2, ROLLING_DRAINED",
        "2-2, 1-1, 1-1, 1-1, REFUSED",
        "1-1, 1-1, 2-3, 1-1, REFUSED",
        "2-2, 2-2, 1-1, 1-1, REFUSED",
    })
    void everyPairNeedsACommonWireVersionAndEverySegmentAReader(
            String wire, String layout, String theirWire, String theirLayout, Way way) {
        Running pool =
                new Running(ActiveVersions.UNKNOWN, List.of(member(Kind.NODE, "node a", theirWire, theirLayout)));

        assertThat(Preflight.judge(versions("0.2.0", wire, layout), pool, false).way())
                .isEqualTo(way);
    }

    @ParameterizedTest(name = "{0}/{1} over nodes {2}/{3} at {4}/{5}: {6}")
    @CsvSource({
        // ours: wire, layout; every member: wire, layout; active wire, layout; verdict
        "1-2, 1-2, 1-1, 1-1, 1, 1, ROLLING_WARM",
        "1-1, 1-1, 1-2, 1-2, 1, 1, ROLLING_WARM",
        "1-1, 1-1, 1-2, 1-2, 2, 2, REFUSED",
        "1-2, 1-1, 1-2, 1-2, 1, 2, ROLLING_DRAINED",
        "2-2, 2-2, 1-2, 1-2, 1, 1, REFUSED",
        "2-2, 2-2, 1-2, 1-2, 2, 2, ROLLING_WARM",
        "1-2, 2-2, 1-2, 1-2, 1, 1, ROLLING_DRAINED",
        "1-2, 2-2, 1-2, 1-2, 1, 2, ROLLING_WARM",
        "2-2, 2-2, 1-1, 1-1, 1, 1, REFUSED",
        "1-2, 1-2, 1-2, 1-2, 2, 2, ROLLING_WARM",
    })
    void whatIsSpokenAndWrittenNowDecidesNotWhatCouldBe(
            String wire, String layout, String theirWire, String theirLayout, int active, int written, Way way) {
        ActiveVersions numbers = new ActiveVersions(active, written);
        Member node = new Member(Kind.NODE, "node a", versions("0.1.0", theirWire, theirLayout), numbers);
        Running pool = new Running(numbers, List.of(node));

        Verdict verdict = Preflight.judge(versions("0.2.0", wire, layout), pool, false);

        assertThat(verdict.way()).as(verdict.reason()).isEqualTo(way);
    }

    @Test
    void whyAFinishedUpgradeCannotBeTakenBackIsSaid() {
        ActiveVersions second = new ActiveVersions(2, 2);
        Member node = new Member(Kind.NODE, "node a", versions("0.2.0", "1-2", "1-2"), second);

        assertThat(Preflight.judge(versions("0.1.0", "1-1", "1-1"), new Running(second, List.of(node)), false)
                        .reason())
                .isEqualTo("kvpool 0.1.0 speaks wire version 1, but the pool speaks 2, which it went over to when its"
                        + " last upgrade was finished: keep a version that speaks it, or begin with an empty pool");
    }

    @Test
    void whatSkipsTheVersionInBetweenIsToldToGoThere() {
        ActiveVersions first = new ActiveVersions(1, 1);
        Member node = new Member(Kind.NODE, "node a", versions("0.2.0", "1-2", "1-2"), first);

        assertThat(Preflight.judge(versions("0.3.0", "2-2", "2-2"), new Running(first, List.of(node)), false)
                        .reason())
                .isEqualTo(
                        "kvpool 0.3.0 speaks wire version 2, but the pool speaks 1 until an upgrade to a version that"
                                + " speaks both is finished: go by way of such a version");
    }

    @Test
    void eachNodeIsEmptiedForWhatItWritesItself() {
        ActiveVersions pool = new ActiveVersions(1, 2);
        List<Member> nodes = List.of(
                new Member(Kind.NODE, "node a", versions("0.2.0", "1-2", "1-2"), new ActiveVersions(1, 2)),
                new Member(Kind.NODE, "node b", versions("0.2.0", "1-2", "1-2"), new ActiveVersions(1, 1)));

        assertThat(Preflight.judge(versions("0.1.0", "1-1", "1-1"), new Running(pool, nodes), false))
                .isEqualTo(new Verdict(
                        Way.ROLLING_DRAINED,
                        "kvpool 0.1.0 reads segment layout 1, and node a (kvpool 0.2.0) writes layout 2: each storage"
                                + " node is emptied before it is replaced"));
    }

    @Test
    void oneMemberThatIsLeftBehindRefusesAndIsNamedWithBothSides() {
        Running pool = new Running(
                ActiveVersions.UNKNOWN,
                List.of(
                        member(Kind.MASTER, "master m-0", "1-2", "1-1"),
                        member(Kind.NODE, "node a", "1-1", "1-1"),
                        member(Kind.CLIENT, "client engine", "1-2", "1-1")));

        Verdict verdict = Preflight.judge(versions("0.3.0", "2-3", "1-1"), pool, true);

        assertThat(verdict.way()).isEqualTo(Way.REFUSED);
        assertThat(verdict.reason())
                .isEqualTo("kvpool 0.3.0 speaks wire version 2-3, but node a (kvpool 0.1.0) speaks 1; go by way of a"
                        + " version that speaks both, or keep the version that runs");
    }

    @Test
    void clientsCountUnlessTheyMayBeLeftBehind() {
        Running pool = new Running(
                ActiveVersions.UNKNOWN,
                List.of(
                        member(Kind.MASTER, "master m-0", "1-2", "1-1"),
                        member(Kind.CLIENT, "client engine and 3 others", "1-1", "1-1")));
        Versions ours = versions("0.3.0", "2-3", "1-1");

        assertThat(Preflight.judge(ours, pool, false).reason())
                .contains("client engine and 3 others (kvpool 0.1.0) speaks 1", "upgrade these clients first");
        assertThat(Preflight.judge(ours, pool, true).way()).isEqualTo(Way.ROLLING_WARM);
    }

    @Test
    void theLayoutOfMastersAndClientsDoesNotMatter() {
        Running pool = new Running(
                ActiveVersions.UNKNOWN,
                List.of(
                        member(Kind.MASTER, "master m-0", "1-1", "1-1"),
                        member(Kind.CLIENT, "client engine", "1-1", "1-1"),
                        member(Kind.NODE, "node a", "1-1", "2-2")));

        assertThat(Preflight.judge(versions("0.2.0", "1-1", "2-2"), pool, false).way())
                .isEqualTo(Way.ROLLING_WARM);
    }

    @Test
    void ofManyOnlyAFewAreNamed() {
        List<Member> nodes = java.util.stream.IntStream.range(0, 9)
                .mapToObj(i -> member(Kind.NODE, "node " + i, "1-1", "1-1"))
                .toList();

        assertThat(Preflight.judge(versions("0.2.0", "2-2", "1-1"), new Running(ActiveVersions.UNKNOWN, nodes), false)
                        .reason())
                .contains("node 2 (kvpool 0.1.0) speaks 1 and 6 more likewise")
                .doesNotContain("node 3");
    }

    private static Member member(Kind kind, String name, String wire, String layout) {
        return new Member(kind, name, versions("0.1.0", wire, layout), ActiveVersions.UNKNOWN);
    }

    private static Versions versions(String product, String wire, String layout) {
        return new Versions(product, range(wire), range(layout), new VersionRange(1, 1));
    }

    private static VersionRange range(String text) {
        int dash = text.indexOf('-');
        return new VersionRange(Integer.parseInt(text.substring(0, dash)), Integer.parseInt(text.substring(dash + 1)));
    }
}
