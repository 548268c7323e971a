// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.event;

/** Every decision the operator reports as a Kubernetes event. */
public enum EventReason {
    CHANGED("Changed", false, "The operator created, changed or deleted objects of the pool."),
    LEADER_CHANGED("LeaderChanged", false, "Another master leads; the leader Service follows it."),
    LEADER_DIED("LeaderDied", true, "The leader's container has ended. The operator told the other masters."),
    FAILED_OVER(
            "FailedOver",
            false,
            "Another master serves as leader. The message says why, and for how long there was no leader."),
    SEVERAL_LEADERS("SeveralLeaders", true, "More than one master says that it leads."),
    READY("Ready", false, "The pool became ready."),
    NOT_READY("NotReady", true, "The pool is no longer ready."),
    SPEC_INVALID("SpecInvalid", true, "The spec cannot be carried out. Nothing was changed."),
    PAUSED("Paused", false, "The pool was paused."),
    HELD_BACK("HeldBack", true, "A part of the spec is not carried out, because that would lose bytes."),
    APPLY_FAILED("ApplyFailed", true, "An object of the pool could not be changed."),
    VERSION_MISMATCH("VersionMismatch", true, "Versions are not compatible, or are not the wanted ones."),
    UPGRADE_STARTED("UpgradeStarted", false, "An upgrade to another image started."),
    UPGRADE_STEP(
            "UpgradeStep", false, "A step of an upgrade started. The message names the pod and what is done with it."),
    UPGRADE_FINISHED("UpgradeFinished", false, "The whole pool runs the wanted image."),
    VERSIONS_RAISED(
            "VersionsRaised",
            false,
            "The pool now speaks a higher wire version, or writes a higher segment layout. Programs that do not know"
                    + " it are refused."),
    UPGRADE_BLOCKED("UpgradeBlocked", true, "The wanted image is not compatible with the pool, which stays as it is."),
    UPGRADE_GOES_BACK("UpgradeGoesBack", true, "The pool is being rolled back to its previous image."),
    UPGRADE_FAILED("UpgradeFailed", true, "The pool was rolled back to its previous image."),
    AUTHORITY_ROTATION_STARTED(
            "AuthorityRotationStarted",
            false,
            "The next certificate authority of the pool is made, and trusted beside the present one."),
    AUTHORITY_ROTATION_FINISHED(
            "AuthorityRotationFinished",
            false,
            "The pool has its next certificate authority, and no longer trusts the previous one."),
    SETTINGS_STEP(
            "SettingsStep",
            false,
            "A pod that was made with earlier settings is recreated, or hands its leadership over before."),
    ROLLOUT_TURN(
            "RolloutTurn",
            false,
            "The turn has come to a pool of which an earlier operator made other pods: it gets those of this operator. Others wait meanwhile"
                    + " (rollout.pools of the chart)."),
    MASTER_REMOVED(
            "MasterRemoved",
            false,
            "A master that the spec does not want any more is removed, or hands its leadership over before."),
    HANDOVER_STARTED("HandoverStarted", false, "The leader hands its leadership over, as a user asked."),
    STEP_FAILED(
            "StepFailed",
            true,
            "A step did not succeed in its time; no other step of its kind begins before it has succeeded."),
    DRAIN_STARTED(
            "DrainStarted",
            false,
            "A storage node is being emptied that the spec removes, whose Kubernetes node is cordoned, or that a user wants empty."),
    DRAIN_FINISHED("DrainFinished", false, "A storage node is empty: it is removed, or its pod may be evicted."),
    DRAIN_WAITS(
            "DrainWaits",
            false,
            "The Kubernetes node of a storage node is cordoned, and the storage node cannot be emptied now. Its pod"
                    + " is not evicted before it is."),
    EVICTION_ALLOWED(
            "EvictionAllowed",
            false,
            "The Kubernetes node of a storage node is cordoned, and its pod may be evicted, because its objects are"
                    + " on a volume that stays."),
    DRAIN_HANDED_BACK(
            "DrainHandedBack",
            false,
            "The pod of a storage node has left its cordoned Kubernetes node. The storage node takes objects again"
                    + " with its next pod."),
    DRAIN_CANCELLED("DrainCancelled", false, "A storage node that was being emptied stays and takes objects again."),
    DRAIN_LEFTOVERS(
            "DrainLeftovers", true, "A storage node could not be emptied in time. It stays, and the operator retries."),
    OBJECTS_DROPPED(
            "ObjectsDropped",
            true,
            "A storage node is removed, or its pod may be evicted, with objects that fit nowhere else."),
    ASCEND_RUNTIME_NOT_READY(
            "AscendRuntimeNotReady",
            true,
            "Storage pods lack what their NPUs need, or an NPU is not well: condition AscendRuntimeReady."),
    DIRECTORY_GOES(
            "DirectoryGoes",
            false,
            "On the ConfigMap POOL-directories-ID: the pool is deleted, and a Job removes the directory of a storage"
                    + " node from its Kubernetes node."),
    DIRECTORY_REMAINS(
            "DirectoryRemains",
            true,
            "On the ConfigMap POOL-directories-ID: the pool is deleted, and a Job could not remove the directory of a"
                    + " storage node.");

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
