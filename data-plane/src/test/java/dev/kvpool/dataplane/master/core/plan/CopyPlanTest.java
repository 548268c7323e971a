// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.plan.CopyPlan.Obstacle;
import dev.kvpool.dataplane.master.core.plan.CopyPlan.Site;
import dev.kvpool.dataplane.master.core.plan.CopyPlan.Step;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CopyPlanTest {
    private static final long MANY = Long.MAX_VALUE;

    private static Site serving(String id) {
        return new Site(id, "", true, false, false, false, true, 1000, MANY);
    }

    private static Site in(String zone, String id, long room) {
        return new Site(id, zone, true, false, false, false, true, room, MANY);
    }

    private static Site leaving(String id) {
        return new Site(id, "", true, false, true, false, false, 1000, MANY);
    }

    private static Site away(String id, boolean returning) {
        return new Site(id, "", false, false, false, returning, false, 0, 0);
    }

    private static Site passing(String id) {
        return new Site(id, "", false, true, false, false, false, 0, MANY);
    }

    /** s: serves, t: a transient node that takes part, l: serves and leaves, r: away for a short time, g: away for long. */
    private static List<Site> holders(String kinds) {
        return kinds.chars()
                .mapToObj(kind -> switch (kind) {
                    case 's' -> serving("s");
                    case 't' -> passing("t");
                    case 'l' -> leaving("l");
                    case 'r' -> away("r", true);
                    default -> away("g", false);
                })
                .toList();
    }

    @ParameterizedTest(name = "{0} copies wanted, on {1}: {2} missing")
    @CsvSource({
        "1, s, 0",
        "2, s, 1",
        "3, s, 2",
        "2, ss, 0",
        "2, sr, 0",
        "2, sg, 1",
        "3, srg, 1",
        "1, l, 1",
        "2, l, 1",
        "2, ll, 1",
        "2, sl, 0",
        "3, sl, 1",
        "1, lr, 1",
        "1, sss, 0",
        "2, g, 0",
        "2, r, 0",
        "2, rg, 0",
        "1, t, 0",
        "2, t, 1",
        "2, st, 0",
        "3, st, 1",
        "1, lt, 1",
    })
    void whatIsMissing(int wanted, String kinds, int missing) {
        assertThat(CopyPlan.missing(wanted, holders(kinds))).isEqualTo(missing);
    }

    @Test
    void theNextCopyGoesToAnotherZoneThenToTheMostRoom() {
        List<Site> holders = List.of(in("east", "a", 10));
        List<Site> sites =
                List.of(holders.getFirst(), in("east", "b", 900), in("west", "c", 300), in("west", "d", 400));

        assertThat(CopyPlan.next(holders, sites, Set.of(), 100)).isEqualTo(new Step("a", "d", Obstacle.NONE));
        assertThat(CopyPlan.next(holders, sites.subList(0, 2), Set.of(), 100).target())
                .isEqualTo("b");
    }

    @Test
    void whatStandsInTheWay() {
        Site holder = serving("a");
        Site full = new Site("b", "", true, false, false, false, true, 99, MANY);
        Site busy = new Site("c", "", true, false, false, false, true, 1000, 50);
        Site closed = new Site("d", "", true, false, false, false, false, 1000, MANY);
        Site open = serving("e");

        assertThat(obstacle(holder, holder, closed)).isEqualTo(Obstacle.NO_NODE);
        assertThat(obstacle(holder, holder, full)).isEqualTo(Obstacle.NO_ROOM);
        assertThat(obstacle(holder, holder, full, busy)).isEqualTo(Obstacle.BUDGET);
        assertThat(obstacle(holder, busy, full, open)).isEqualTo(Obstacle.NONE);
        assertThat(obstacle(new Site("a", "", true, false, false, false, true, 0, 50), open))
                .isEqualTo(Obstacle.BUDGET);
        assertThat(CopyPlan.next(List.of(holder), List.of(holder, open), Set.of("a"), 100)
                        .obstacle())
                .isEqualTo(Obstacle.NO_SOURCE);
    }

    private static Obstacle obstacle(Site holder, Site... sites) {
        return CopyPlan.next(List.of(holder), List.of(sites), Set.of(), 100).obstacle();
    }

    @Test
    void aZoneThatNobodyKnowsMayBeThatOfTheOtherCopy() {
        Site holder = in("east", "a", 500);
        Site unknown = in("", "b", 900);

        assertThat(CopyPlan.next(List.of(holder), List.of(holder, unknown, in("west", "c", 500)), Set.of(), 100)
                        .target())
                .isEqualTo("c");
        assertThat(CopyPlan.next(List.of(holder), List.of(holder, unknown, in("east", "c", 500)), Set.of(), 100)
                        .target())
                .as("the emptier one")
                .isEqualTo("b");
    }

    @Test
    void anotherSourceIsTakenWhenOneCannotBeRead() {
        List<Site> holders = List.of(serving("a"), serving("b"), away("c", true));
        List<Site> sites = List.of(holders.get(0), holders.get(1), holders.get(2), serving("d"));

        assertThat(CopyPlan.next(holders, sites, Set.of("a"), 100)).isEqualTo(new Step("b", "d", Obstacle.NONE));
        assertThat(CopyPlan.next(holders, sites, Set.of("b"), 100).source()).isEqualTo("a");
    }

    @Test
    void copiesThatAllLieInOneZoneGetOneElsewhere() {
        Site west = in("west", "w", 1000);
        List<Site> together = List.of(in("east", "a", 1000), in("east", "b", 1000));
        List<Site> sites = List.of(together.get(0), together.get(1), in("east", "c", 1000), west);

        assertThat(CopyPlan.hasZones(sites)).isTrue();
        assertThat(CopyPlan.elsewhere(together, sites, 100)).containsExactly(west);
        assertThat(CopyPlan.elsewhere(together, sites, 1001)).as("no room").isEmpty();
        assertThat(CopyPlan.elsewhere(List.of(together.get(0), west), sites, 100))
                .as("spread already")
                .isEmpty();
        assertThat(CopyPlan.elsewhere(List.of(together.get(0)), sites, 100))
                .as("one copy is in one zone")
                .isEmpty();
        assertThat(CopyPlan.elsewhere(List.of(together.get(0), serving("x")), sites, 100))
                .as("a zone is not known")
                .isEmpty();
        assertThat(CopyPlan.hasZones(together)).isFalse();
        assertThat(CopyPlan.elsewhere(together, together, 100)).isEmpty();
    }

    @Test
    void tooManyCopiesAreFreedWhereTheyHelpLeast() {
        List<Site> zones = List.of(in("east", "a", 500), in("east", "b", 100), in("west", "c", 50));

        assertThat(CopyPlan.surplus(2, zones)).containsExactly("b");
        assertThat(CopyPlan.surplus(1, zones)).containsExactly("b", "c");
        assertThat(CopyPlan.surplus(3, zones)).isEmpty();
        assertThat(CopyPlan.surplus(1, List.of(serving("a"), leaving("l")))).containsExactly("l");
        assertThat(CopyPlan.surplus(1, List.of(serving("a"), away("r", true)))).isEmpty();
        assertThat(CopyPlan.surplus(1, List.of(leaving("l"), leaving("m")))).isEmpty();
    }

    @Test
    void copiesOnTransientNodesCountAndAreTheFirstToBeTooMany() {
        assertThat(CopyPlan.surplus(2, List.of(serving("a"), serving("b"), passing("t"))))
                .containsExactly("t");
        assertThat(CopyPlan.surplus(2, List.of(serving("a"), passing("t"), passing("u"))))
                .containsExactly("u");
        assertThat(CopyPlan.surplus(2, List.of(serving("a"), passing("t")))).isEmpty();
        assertThat(CopyPlan.surplus(1, List.of(leaving("l"), passing("t")))).isEmpty();
    }

    @Test
    void aTransientNodeMayBeTheSourceOfWhatIsMissingElsewhere() {
        Site transientNode = passing("t");

        assertThat(CopyPlan.next(List.of(transientNode), List.of(transientNode, serving("a")), Set.of(), 100))
                .isEqualTo(new Step("t", "a", Obstacle.NONE));
    }
}
