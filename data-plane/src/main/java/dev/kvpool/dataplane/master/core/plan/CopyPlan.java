// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.plan;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Where copies of one object are missing, which are too many, and from where to where the next one goes. */
public final class CopyPlan {
    /**
     * A node at the moment of the plan.
     *
     * @param zone failure domain, empty when unknown
     * @param serves takes part now, and its memory is here to stay
     * @param passing takes part now, but its memory goes with its process: its copies count, and are the first to be too many
     * @param leaving is being drained, or has been
     * @param returning is away, but not for so long yet that its replicas are given up
     * @param takes may be the target of a copy
     * @param roomBytes what it can take without going above its high watermark
     * @param budgetBytes what may be sent to it or fetched from it now
     */
    public record Site(
            String id,
            String zone,
            boolean serves,
            boolean passing,
            boolean leaving,
            boolean returning,
            boolean takes,
            long roomBytes,
            long budgetBytes) {}

    /** Why there is no next copy now. */
    public enum Obstacle {
        NONE("none"),
        /** Wait: as much as may be is under way. */
        BUDGET("the bound on copies under way is reached"),
        NO_SOURCE("no node that holds it can be read now"),
        NO_NODE("every other node holds it, is away or is leaving"),
        NO_ROOM("no other node has room for it");

        private final String sentence;

        Obstacle(String sentence) {
            this.sentence = sentence;
        }

        public String sentence() {
            return sentence;
        }
    }

    /** The next copy, by ids of nodes; null both when there is an obstacle. */
    public record Step(String source, String target, Obstacle obstacle) {
        private static Step not(Obstacle obstacle) {
            return new Step(null, null, obstacle);
        }
    }

    private CopyPlan() {}

    /**
     * How many copies an object lacks. Replicas that leave count as long as another one stays: what a drain must move is
     * what nobody else has; the rest is repaired when the node has left.
     */
    public static int missing(int wanted, Collection<Site> holders) {
        int serving = 0;
        int passing = 0;
        int staying = 0;
        int returning = 0;
        for (Site holder : holders) {
            serving += holder.serves ? 1 : 0;
            passing += holder.passing ? 1 : 0;
            staying += holder.serves && !holder.leaving ? 1 : 0;
            returning += holder.returning ? 1 : 0;
        }
        if (serving + passing == 0) {
            return 0;
        }
        int lacking = Math.max(0, wanted - serving - passing - returning);
        return serving > 0 && staying == 0 ? Math.max(1, lacking) : lacking;
    }

    /** The holders whose replica can go because enough others stay: those that pass, leave, share a zone, or are fullest. */
    public static List<String> surplus(int wanted, Collection<Site> holders) {
        List<Site> left = new ArrayList<>();
        for (Site holder : holders) {
            if (holder.serves) {
                left.add(holder);
            }
        }
        List<String> surplus = new ArrayList<>();
        int passing = Math.max(0, wanted - staying(left));
        for (Site holder : holders) {
            if (holder.passing && --passing < 0) {
                surplus.add(holder.id);
            }
        }
        while (left.size() > wanted && staying(left) > 0) {
            Site worst = left.getFirst();
            for (Site site : left) {
                worst = isMoreDispensable(site, worst, left) ? site : worst;
            }
            if (!worst.leaving && staying(left) <= wanted) {
                break;
            }
            left.remove(worst);
            surplus.add(worst.id);
        }
        return surplus;
    }

    private static int staying(List<Site> sites) {
        int staying = 0;
        for (Site site : sites) {
            staying += site.leaving ? 0 : 1;
        }
        return staying;
    }

    private static boolean isMoreDispensable(Site site, Site other, List<Site> among) {
        if (site.leaving != other.leaving) {
            return site.leaving;
        }
        boolean shares = sharesZone(site, among);
        boolean otherShares = sharesZone(other, among);
        return shares == otherShares ? site.roomBytes < other.roomBytes : shares;
    }

    private static boolean sharesZone(Site site, List<Site> among) {
        for (Site other : among) {
            if (!other.id.equals(site.id) && !site.zone.isEmpty() && site.zone.equals(other.zone)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Where one more copy would help an object that has enough of them, but all in one zone: what was put, or copied, while the
     * other zones were away. Empty when that is not so, or no node elsewhere has room. The copy that is then too many is
     * {@link #surplus one of those that share a zone}.
     */
    public static List<Site> elsewhere(Collection<Site> holders, Collection<Site> sites, long extentBytes) {
        String zone = null;
        int staying = 0;
        for (Site holder : holders) {
            if (!holder.serves || holder.leaving) {
                continue;
            }
            staying++;
            if (holder.zone.isEmpty() || (zone != null && !zone.equals(holder.zone))) {
                return List.of();
            }
            zone = holder.zone;
        }
        List<Site> elsewhere = new ArrayList<>();
        for (Site site : sites) {
            boolean isElsewhere = !site.zone.isEmpty() && !site.zone.equals(zone);
            if (staying > 1 && isElsewhere && site.takes && site.roomBytes >= extentBytes) {
                elsewhere.add(site);
            }
        }
        return elsewhere;
    }

    /** Whether nodes of more than one zone take copies. */
    public static boolean hasZones(Collection<Site> sites) {
        Set<String> zones = new HashSet<>();
        for (Site site : sites) {
            if (site.takes && !site.zone.isEmpty()) {
                zones.add(site.zone);
            }
        }
        return zones.size() > 1;
    }

    /**
     * The next copy of an object that lacks one.
     *
     * @param holders the nodes that have it
     * @param sites every node
     * @param avoided ids of holders that it could not be read from lately
     */
    public static Step next(Collection<Site> holders, Collection<Site> sites, Set<String> avoided, long extentBytes) {
        Step target = target(holders, sites, extentBytes);
        if (target.obstacle != Obstacle.NONE) {
            return target;
        }
        Site source = null;
        boolean readable = false;
        for (Site holder : holders) {
            if (!(holder.serves || holder.passing) || avoided.contains(holder.id)) {
                continue;
            }
            readable = true;
            if (holder.budgetBytes >= extentBytes && (source == null || holder.budgetBytes > source.budgetBytes)) {
                source = holder;
            }
        }
        if (source == null) {
            return Step.not(readable ? Obstacle.BUDGET : Obstacle.NO_SOURCE);
        }
        return new Step(source.id, target.target, Obstacle.NONE);
    }

    private static Step target(Collection<Site> holders, Collection<Site> sites, long extentBytes) {
        Set<String> taken = new HashSet<>();
        Set<String> zones = new HashSet<>();
        for (Site holder : holders) {
            taken.add(holder.id);
            if (!holder.leaving) {
                zones.add(holder.zone);
            }
        }
        Site best = null;
        Obstacle obstacle = Obstacle.NO_NODE;
        for (Site site : sites) {
            if (!site.takes || taken.contains(site.id)) {
                continue;
            }
            if (site.roomBytes < extentBytes) {
                obstacle = obstacle == Obstacle.NO_NODE ? Obstacle.NO_ROOM : obstacle;
            } else if (site.budgetBytes < extentBytes) {
                obstacle = Obstacle.BUDGET;
            } else if (best == null || isBetter(site, best, zones)) {
                best = site;
            }
        }
        return best == null ? Step.not(obstacle) : new Step(null, best.id, Obstacle.NONE);
    }

    private static boolean isBetter(Site site, Site than, Set<String> zones) {
        boolean elsewhere = isElsewhere(site, zones);
        boolean otherElsewhere = isElsewhere(than, zones);
        return elsewhere == otherElsewhere ? site.roomBytes > than.roomBytes : elsewhere;
    }

    /** A zone that nobody knows may be any. */
    private static boolean isElsewhere(Site site, Set<String> zones) {
        return !site.zone.isEmpty() && !zones.contains(site.zone);
    }
}
