// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.event;

/** Every decision the operator reports as a Kubernetes event. */
public enum EventReason {
    CHANGED("Changed", false, "The operator made, changed or removed objects of the pool."),
    LEADER_CHANGED("LeaderChanged", false, "Another master leads; the leader Service follows it."),
    LEADER_DIED("LeaderDied", true, "The leader's container has ended; the other masters were told."),
    FAILED_OVER("FailedOver", false, "Another master serves as leader: why, and for how long nobody did."),
    SEVERAL_LEADERS("SeveralLeaders", true, "More than one master says that it leads."),
    READY("Ready", false, "The pool became ready."),
    NOT_READY("NotReady", true, "The pool was ready and is not any more."),
    SPEC_INVALID("SpecInvalid", true, "The spec cannot be carried out; nothing was changed."),
    PAUSED("Paused", false, "The pool was paused."),
    HELD_BACK("HeldBack", true, "A part of the spec is not carried out, because it would lose bytes."),
    APPLY_FAILED("ApplyFailed", true, "An object of the pool could not be changed."),
    VERSION_MISMATCH("VersionMismatch", true, "Versions do not fit, or are not the wanted ones."),
    UPGRADE_STARTED("UpgradeStarted", false, "The pool goes over to another image."),
    UPGRADE_STEP("UpgradeStep", false, "A step of an upgrade began: which pod, and what is done with it."),
    UPGRADE_FINISHED("UpgradeFinished", false, "All of the pool runs the wanted image."),
    VERSIONS_RAISED(
            "VersionsRaised",
            false,
            "The pool speaks a higher wire version or writes a higher segment layout from now on; what does not know it is refused."),
    UPGRADE_BLOCKED("UpgradeBlocked", true, "The wanted image does not fit the pool, which stays as it is."),
    UPGRADE_GOES_BACK("UpgradeGoesBack", true, "The pool goes back to the image it ran before."),
    UPGRADE_FAILED("UpgradeFailed", true, "The pool is back at the image it ran before."),
    DRAIN_STARTED(
            "DrainStarted",
            false,
            "A storage node that is to go, or whose node of the cluster is cordoned, is being emptied."),
    DRAIN_FINISHED("DrainFinished", false, "A storage node is empty and goes, or its pod may be evicted."),
    DRAIN_WAITS(
            "DrainWaits",
            false,
            "A storage node's node of the cluster is cordoned, and it cannot be emptied now; its pod is not evicted before."),
    EVICTION_ALLOWED(
            "EvictionAllowed",
            false,
            "A storage node's node of the cluster is cordoned, and its pod may be evicted, as what it holds is on a volume that"
                    + " stays."),
    DRAIN_HANDED_BACK(
            "DrainHandedBack",
            false,
            "A storage node's pod has left its cordoned node of the cluster; the storage node takes part again with its next pod."),
    DRAIN_CANCELLED("DrainCancelled", false, "A storage node that was to go stays and takes part again."),
    DRAIN_LEFTOVERS(
            "DrainLeftovers", true, "A storage node could not be emptied in time; it stays and is tried again."),
    OBJECTS_DROPPED(
            "ObjectsDropped",
            true,
            "A storage node goes, or its pod may be evicted, with objects that had no other place."),
    DIRECTORY_GOES(
            "DirectoryGoes",
            false,
            "On the ConfigMap POOL-directories-ID: the pool is gone, and a Job removes what a storage node had on its node."),
    DIRECTORY_REMAINS(
            "DirectoryRemains",
            true,
            "On the ConfigMap POOL-directories-ID: the pool is gone, and a Job could not remove what a storage node had.");

    private final String text;
    private final boolean warning;
    private final String meaning;

    EventReason(String text, boolean warning, String meaning) {
        this.text = text;
        this.warning = warning;
        this.meaning = meaning;
    }

    /** As written in the event. */
    public String text() {
        return text;
    }

    /** The event's type. */
    public String type() {
        return warning ? "Warning" : "Normal";
    }

    /** What it means, for the documentation. */
    public String meaning() {
        return meaning;
    }
}
