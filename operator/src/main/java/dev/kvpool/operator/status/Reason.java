// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.status;

import static dev.kvpool.api.v1alpha1.ConditionStatus.FALSE;
import static dev.kvpool.api.v1alpha1.ConditionStatus.TRUE;
import static dev.kvpool.api.v1alpha1.ConditionStatus.UNKNOWN;
import static dev.kvpool.operator.status.ConditionType.DRAINING;
import static dev.kvpool.operator.status.ConditionType.LEADER_ELECTED;
import static dev.kvpool.operator.status.ConditionType.READY;
import static dev.kvpool.operator.status.ConditionType.SPEC_APPLIED;
import static dev.kvpool.operator.status.ConditionType.SPEC_VALID;
import static dev.kvpool.operator.status.ConditionType.STORAGE_READY;
import static dev.kvpool.operator.status.ConditionType.UPGRADE_BLOCKED;
import static dev.kvpool.operator.status.ConditionType.VERSION_COMPATIBLE;

import dev.kvpool.api.v1alpha1.ConditionStatus;

/**
 * Why a condition is as it is: the complete vocabulary, part of the API. A reason belongs to one condition type and one
 * status; docs/reference/conditions.md is made from this list.
 */
public enum Reason {
    SERVING(READY, TRUE, "Serving", "The pool serves, with all its storage nodes and masters."),
    SERVING_WITHOUT_STANDBY(
            READY, TRUE, "ServingWithoutStandby", "The pool serves, but not all masters are ready to take over."),
    STARTING(READY, FALSE, "Starting", "The pool has not been ready yet; its pods are starting."),
    NOT_SERVING(READY, FALSE, "NotServing", "No master leads and serves. Clients wait for the next leader."),
    STORAGE_INCOMPLETE(
            READY, FALSE, "StorageIncomplete", "The pool serves what it has, but storage nodes are missing."),
    ENGINE_READY(READY, TRUE, "EngineReady", "All storage nodes that use the transfer engine are ready."),
    NOT_USED(READY, TRUE, "NotUsed", "No pool names the transfer engine."),
    NODES_MISSING(READY, FALSE, "NodesMissing", "Storage nodes that use the transfer engine are not ready."),
    AGENTS_MISSING(
            READY,
            FALSE,
            "AgentsMissing",
            "Agents of the pools that use the transfer engine are not ready; pools serve all the same."),
    PROTOCOLS_MISSING(
            READY, FALSE, "ProtocolsMissing", "Ready storage nodes do not offer all protocols of the transfer engine."),

    VALID(SPEC_VALID, TRUE, "Valid", "The spec can be carried out."),
    TRANSFER_ENGINE_MISSING(
            SPEC_VALID,
            FALSE,
            "TransferEngineMissing",
            "spec.transferEngine names a TransferEngine that is not in the namespace. The pool stays as it is until it"
                    + " is created or the name is changed."),
    OLD_POOL_REMAINS(
            SPEC_VALID,
            FALSE,
            "OldPoolRemains",
            "Objects of a deleted pool of the same name are still being removed. Then the pool is made."),
    PORT_RANGE_TOO_SMALL(
            SPEC_VALID,
            FALSE,
            "PortRangeTooSmall",
            "The transfer engine's range of ports has none left for a storage set on the network of its nodes."),
    CLIENTS_CANNOT_BE_SELECTED(
            SPEC_VALID,
            FALSE,
            "ClientsCannotBeSelected",
            "networkPolicy.clientNamespaces cannot be obeyed: with hostNetwork the storage nodes' addresses are those of their"
                    + " nodes, which no selector names, so the masters would be closed to them."),
    RESOURCES_INVALID(
            SPEC_VALID,
            FALSE,
            "ResourcesInvalid",
            "Requests or limits hold no quantity, a negative one, or a request above its limit; the message says which."),
    MEMORY_LIMIT_TOO_SMALL(
            SPEC_VALID,
            FALSE,
            "MemoryLimitTooSmall",
            "A limit of the spec cannot hold what the spec asks for, so pods would be killed as they fill; the message has the"
                    + " sum and the way out."),
    CAPACITY_NOT_IN_PAGES(
            SPEC_VALID,
            FALSE,
            "CapacityNotInPages",
            "A storage set's capacity is not a whole number of the huge pages its transfer engine asks for."),
    VOLUME_WITHOUT_HUGE_PAGES(
            SPEC_VALID,
            FALSE,
            "VolumeWithoutHugePages",
            "A storage set has persistent volume claims and its transfer engine asks for huge pages; only memory has those."),

    NAMESPACE_REFUSES_HOST_PATH(
            SPEC_VALID,
            FALSE,
            "NamespaceRefusesHostPath",
            "A storage set has a hostPath volume, or there are to be agents or sockets of storage nodes, and the namespace enforces a"
                    + " pod security level that admits none of them; the message names the label and the way out."),
    NAMESPACE_REFUSES_HOST_NETWORK(
            SPEC_VALID,
            FALSE,
            "NamespaceRefusesHostNetwork",
            "The transfer engine has hostNetwork, and the namespace enforces a pod security level that admits no pod on the network of"
                    + " its node; the message names the label and the way out."),
    NAMESPACE_REFUSES_MEMORY_LOCK(
            SPEC_VALID,
            FALSE,
            "NamespaceRefusesMemoryLock",
            "The transfer engine has an accelerator or RDMA cards, for which storage nodes lock memory, and the namespace enforces a pod"
                    + " security level that admits no pod with that capability; the message names the label and the way out."),

    SOCKET_PATH_TOO_LONG(
            SPEC_VALID,
            FALSE,
            "SocketPathTooLong",
            "With the names of namespace and pool the transfer engine's socketDirectory is longer than paths of sockets may be."),

    APPLIED(SPEC_APPLIED, TRUE, "Applied", "The pool's objects are as the spec wants them."),
    PAUSED(SPEC_APPLIED, FALSE, "Paused", "spec.paused is true: no object of the pool is changed."),
    SPEC_INVALID(SPEC_APPLIED, FALSE, "SpecInvalid", "No object was changed, because the spec is not valid."),
    WOULD_LOSE_BYTES(
            SPEC_APPLIED,
            FALSE,
            "WouldLoseBytes",
            "A part of the spec is held back, because carrying it out would lose cached bytes. It is carried out when"
                    + " spec.onDataLoss is Move or Replace, or for a pod when you delete that pod."),
    WAITS_FOR_DRAIN(
            SPEC_APPLIED,
            FALSE,
            "WaitsForDrain",
            "Storage nodes that are to go are emptied before; condition Draining says how far they are."),
    NODE_LEFT_OUT(
            SPEC_APPLIED,
            FALSE,
            "NodeLeftOut",
            "A node that perNode selects gets no storage node; the message says why. Everything else is carried out."),
    REMOVES_DIRECTORIES(
            SPEC_APPLIED,
            FALSE,
            "RemovesDirectories",
            "Storage nodes of a set with a hostPath volume have gone, and Jobs on their nodes remove the directories"
                    + " they had. Everything else is carried out."),
    MASTERS_READ_RULES(
            SPEC_APPLIED,
            FALSE,
            "MastersReadRules",
            "Masters go by earlier rules of the cache still: the kubelets bring them the new ones within a minute or two, and no pod is"
                    + " made anew. The message says what else keeps a master from it."),
    NAME_TAKEN(
            SPEC_APPLIED,
            FALSE,
            "NameTaken",
            "An object that is not of this pool has a name the pool needs. It is left alone."),
    APPLY_FAILED(
            SPEC_APPLIED,
            FALSE,
            "ApplyFailed",
            "The API server refused an object; the operator tries again and again."),

    ELECTED(LEADER_ELECTED, TRUE, "Elected", "One master leads and serves."),
    SEVERAL_LEADERS(
            LEADER_ELECTED,
            FALSE,
            "SeveralLeaders",
            "More than one master says that it leads and serves. Storage nodes obey the highest epoch only, so nothing is written"
                    + " twice; one that goes on for longer than a Lease lasts is cut off, or its clock stands still."),
    NO_LEADER(LEADER_ELECTED, FALSE, "NoLeader", "No master holds the leadership Lease."),
    LEADER_NOT_SERVING(
            LEADER_ELECTED,
            FALSE,
            "LeaderNotServing",
            "The holder of the Lease does not serve yet: it waits for the storage nodes or for old leases to end."),
    LEADER_DIED(
            LEADER_ELECTED,
            FALSE,
            "LeaderDied",
            "The container of the Lease's holder has ended; the other masters were told to look and take over."),
    LEADER_SILENT(
            LEADER_ELECTED,
            UNKNOWN,
            "LeaderSilent",
            "The holder of the Lease does not answer the operator's question."),

    ENGINES_CONTRIBUTE(
            STORAGE_READY,
            TRUE,
            "EnginesContribute",
            "The spec has no storage nodes, and engines contribute their memory."),
    ALL_NODES_READY(STORAGE_READY, TRUE, "AllNodesReady", "Every storage node is ready."),
    SSD_OFF(
            STORAGE_READY,
            TRUE,
            "SsdOff",
            "Every storage node is ready, and one whose disk is full or fails goes on with its memory alone. What was on"
                    + " that disk is lost; its pod tries the disk again when it starts anew."),
    INDEX_FULL(
            STORAGE_READY,
            TRUE,
            "IndexFull",
            "Every storage node is ready, and the leader's index has no room for more objects: puts are refused until some are"
                    + " evicted or removed, or masters get more memory."),
    NODE_SET_APART(
            STORAGE_READY,
            FALSE,
            "NodeSetApart",
            "The leader cannot follow what a storage node tells of its objects, or has no room for them, and leaves it out for"
                    + " a while; the rest of the pool serves. The message says why. The leader's log has more."),
    AWAITS_WITNESS(
            STORAGE_READY,
            FALSE,
            "AwaitsWitness",
            "A storage node was away while objects were removed or replaced, and all nodes that know which these were are away"
                    + " now, or lost their memory: what that node holds from before is unavailable, and removals fail. The message"
                    + " says who is waited for; `kubectl kvpool forget POOL NODE` gives a node up that does not come back."),
    NODES_NOT_READY(
            STORAGE_READY, FALSE, "NodesNotReady", "Storage nodes are not ready; the message says which and why."),
    NO_NODE_SELECTED(
            STORAGE_READY,
            FALSE,
            "NoNodeSelected",
            "The pool has no storage node: no node of the cluster matches perNode. One that does gets a storage node."),
    NO_ENGINE_JOINED(
            STORAGE_READY,
            FALSE,
            "NoEngineJoined",
            "The spec has no storage nodes, and no engine contributes memory yet: puts fail until one does. The pool is Ready"
                    + " nevertheless, since engines are started once it is."),
    STORAGE_NOT_OBSERVED(
            STORAGE_READY, UNKNOWN, "StorageNotObserved", "No leader could be asked about the storage nodes."),

    SAME_VERSION(VERSION_COMPATIBLE, TRUE, "SameVersion", "Everything that was asked runs the wanted version."),
    MIXED_VERSIONS(
            VERSION_COMPATIBLE,
            TRUE,
            "MixedVersions",
            "Masters or storage nodes run different versions that fit each other."),
    VERSION_DIFFERS(
            VERSION_COMPATIBLE, FALSE, "VersionDiffers", "The masters run another version than spec.version asks for."),
    NODE_REFUSED(
            VERSION_COMPATIBLE,
            FALSE,
            "NodeRefused",
            "Masters and a storage node refused each other; the message says why."),
    VERSION_NOT_OBSERVED(
            VERSION_COMPATIBLE, UNKNOWN, "VersionNotObserved", "No master could be asked for its version."),

    NO_UPGRADE(UPGRADE_BLOCKED, FALSE, "NoUpgrade", "The pool runs the image its spec asks for."),
    UPGRADING(
            UPGRADE_BLOCKED,
            FALSE,
            "Upgrading",
            "The pool goes over to another image; the message says what is done now."),
    UPGRADE_PAUSED(UPGRADE_BLOCKED, FALSE, "UpgradePaused", "spec.upgrade.paused is true: no further step is begun."),
    VERSION_REFUSED(
            UPGRADE_BLOCKED,
            TRUE,
            "VersionRefused",
            "The wanted image does not fit the pool, or could not be asked; the message names both sides and the way out."
                    + " The pool stays as it is."),
    GOING_BACK(
            UPGRADE_BLOCKED,
            TRUE,
            "GoingBack",
            "A step of the upgrade failed or the spec was changed back: what went over goes back, and storage nodes that were"
                    + " being emptied take part again."),
    UPGRADE_FAILED(
            UPGRADE_BLOCKED,
            TRUE,
            "UpgradeFailed",
            "A step of the upgrade failed; the pool runs what it ran before, but for masters of which none ran with that, and the image"
                    + " is not tried again before spec.upgrade.paused was true or the spec asked for another one."),

    NO_DRAIN(DRAINING, FALSE, "NoDrain", "No storage node is to go."),
    DRAIN_WAITS(
            DRAINING,
            FALSE,
            "DrainWaits",
            "Storage nodes that are to go, or whose nodes of the cluster are cordoned, cannot be emptied now; the message says"
                    + " what they wait for."),
    MAY_BE_EVICTED(
            DRAINING,
            TRUE,
            "MayBeEvicted",
            "Storage nodes on cordoned nodes of the cluster are empty, or keep what they hold on volumes of their own, or"
                    + " spec.drain.nodeTimeout is over: their pods may be evicted."),
    DRAIN_CANCELLED(
            DRAINING,
            FALSE,
            "DrainCancelled",
            "Storage nodes that were to go stay after all, or have left a cordoned node, and take part again."),
    EMPTYING(
            DRAINING,
            TRUE,
            "Emptying",
            "Storage nodes that are to go, or whose nodes of the cluster are cordoned, are being emptied: what only they hold is"
                    + " moved to others."),
    LEFTOVERS(
            DRAINING,
            TRUE,
            "Leftovers",
            "A storage node that is to go holds objects that have no other place; it stays until they have, or until"
                    + " spec.drain.onLeftovers is Drop; on a cordoned node of the cluster until spec.drain.nodeTimeout is over.");

    private final ConditionType type;
    private final ConditionStatus status;
    private final String text;
    private final String meaning;

    Reason(ConditionType type, ConditionStatus status, String text, String meaning) {
        this.type = type;
        this.status = status;
        this.text = text;
        this.meaning = meaning;
    }

    public ConditionType type() {
        return type;
    }

    public ConditionStatus status() {
        return status;
    }

    /** As written in the status. */
    public String text() {
        return text;
    }

    /** What it means, for the documentation. */
    public String meaning() {
        return meaning;
    }
}
