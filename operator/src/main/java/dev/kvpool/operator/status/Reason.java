// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.status;

import static dev.kvpool.api.v1alpha1.status.ConditionStatus.FALSE;
import static dev.kvpool.api.v1alpha1.status.ConditionStatus.TRUE;
import static dev.kvpool.api.v1alpha1.status.ConditionStatus.UNKNOWN;
import static dev.kvpool.operator.status.ConditionType.ASCEND_RUNTIME_READY;
import static dev.kvpool.operator.status.ConditionType.AVAILABLE;
import static dev.kvpool.operator.status.ConditionType.CERTIFICATES_VALID;
import static dev.kvpool.operator.status.ConditionType.DRAINING;
import static dev.kvpool.operator.status.ConditionType.LEADER_ELECTED;
import static dev.kvpool.operator.status.ConditionType.PROGRESSING;
import static dev.kvpool.operator.status.ConditionType.READY;
import static dev.kvpool.operator.status.ConditionType.SECURED;
import static dev.kvpool.operator.status.ConditionType.SPEC_APPLIED;
import static dev.kvpool.operator.status.ConditionType.SPEC_VALID;
import static dev.kvpool.operator.status.ConditionType.STORAGE_READY;
import static dev.kvpool.operator.status.ConditionType.TENANTS_OVERCOMMITTED;
import static dev.kvpool.operator.status.ConditionType.UPGRADE_BLOCKED;
import static dev.kvpool.operator.status.ConditionType.VERSION_COMPATIBLE;

import dev.kvpool.api.v1alpha1.status.ConditionStatus;

/**
 * Why a condition is as it is: the complete vocabulary, part of the API. A reason belongs to one condition type and one
 * status; docs/reference/conditions.md is made from this list.
 */
public enum Reason {
    COMPLETE(
            READY,
            TRUE,
            "Complete",
            "The pool serves, all its storage nodes and masters are ready, and its spec is carried out."),
    PARTS_MISSING(
            READY,
            FALSE,
            "PartsMissing",
            "The pool does not serve, or a part of it is not ready. Condition Available says which."),
    NOT_CARRIED_OUT(
            READY,
            FALSE,
            "NotCarriedOut",
            "The pool serves, and not yet as its spec wants it. Condition Progressing says what is done or waited for."),
    ENGINE_READY(READY, TRUE, "EngineReady", "All storage nodes that use the transfer engine are ready."),
    NOT_USED(READY, TRUE, "NotUsed", "No pool names the transfer engine."),
    NODES_MISSING(READY, FALSE, "NodesMissing", "Storage nodes that use the transfer engine are not ready."),
    AGENTS_MISSING(
            READY,
            FALSE,
            "AgentsMissing",
            "Agents of the pools that use the transfer engine are not ready. The pools serve nevertheless."),
    PROTOCOLS_MISSING(
            READY, FALSE, "ProtocolsMissing", "Ready storage nodes do not offer all protocols of the transfer engine."),

    SERVING(AVAILABLE, TRUE, "Serving", "The pool serves, with all its storage nodes and masters."),
    SERVING_WITHOUT_STANDBY(
            AVAILABLE, TRUE, "ServingWithoutStandby", "The pool serves, but not all masters are ready to take over."),
    STORAGE_INCOMPLETE(
            AVAILABLE, TRUE, "StorageIncomplete", "The pool serves what it has, but storage nodes are missing."),
    STARTING(AVAILABLE, FALSE, "Starting", "The pool has not been ready yet; its pods are starting."),
    NOT_SERVING(
            AVAILABLE,
            FALSE,
            "NotServing",
            "No master leads and serves, or no storage node is ready. Clients wait for the next leader; puts fail without storage"
                    + " nodes."),

    UP_TO_DATE(PROGRESSING, FALSE, "UpToDate", "The spec is carried out."),
    OF_EARLIER_OPERATOR(
            PROGRESSING,
            FALSE,
            "OfEarlierOperator",
            "The spec is carried out, by pods that an earlier operator, or one with other settings, made otherwise than this one would."
                    + " The message says which, and what they wait for."),
    CARRYING_OUT(
            PROGRESSING,
            TRUE,
            "CarryingOut",
            "The operator brings the pool to what its spec wants; the message says what is done now."),
    HELD(
            PROGRESSING,
            FALSE,
            "Held",
            "A part of the spec is not carried out until a user decides: the spec is not valid or paused, a change would lose cached"
                    + " bytes, an upgrade is refused, paused or has failed, or a pod did not get ready with changed settings. The message says which."),

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
            "Objects of a deleted pool of the same name are still being removed. The pool is created when they are"
                    + " gone."),
    PORT_RANGE_TOO_SMALL(
            SPEC_VALID,
            FALSE,
            "PortRangeTooSmall",
            "The port range of the transfer engine has no free port for a storage set on the host network."),
    TENANTS_SHARE_MEMORY(
            SPEC_VALID,
            FALSE,
            "TenantsShareMemory",
            "The pool has tenants, and a protocol, agents or memory of engines by which engines reach the objects of others."),
    FABRIC_NOT_TRUSTED(
            SPEC_VALID,
            FALSE,
            "FabricNotTrusted",
            "The pool requires TLS, and its transfer engine has ucx or ascend, which authenticate no peer and encrypt nothing, without"
                    + " trustedFabric."),
    ACCOUNT_IN_TWO_ROLES(
            SPEC_VALID,
            FALSE,
            "AccountInTwoRoles",
            "A ServiceAccount is in two tenants, or is a tenant's and that of storage pods or of the operator: its certificates can have one name only."),
    CERTIFICATES_DO_NOT_FIT(
            SPEC_VALID,
            FALSE,
            "CertificatesDoNotFit",
            "spec.security.certificates cannot be used: ca is not one root, the pool has agents, or pods still run with certificates of"
                    + " the other source."),
    CLIENTS_CANNOT_BE_SELECTED(
            SPEC_VALID,
            FALSE,
            "ClientsCannotBeSelected",
            "networkPolicy.clientNamespaces cannot be applied: with hostNetwork, storage nodes have the addresses of"
                    + " their Kubernetes nodes, which no selector matches, so the policy would close the masters to them."),
    RESOURCES_INVALID(
            SPEC_VALID,
            FALSE,
            "ResourcesInvalid",
            "Requests or limits hold no quantity, a negative one, or a request above its limit; the message says which."),
    MEMORY_LIMIT_TOO_SMALL(
            SPEC_VALID,
            FALSE,
            "MemoryLimitTooSmall",
            "A memory limit in the spec is lower than what the spec asks for, so pods would be killed as they fill."
                    + " The message has the sum and how to fix it."),
    CAPACITY_NOT_IN_PAGES(
            SPEC_VALID,
            FALSE,
            "CapacityNotInPages",
            "A storage set's capacity is not a multiple of the huge page size of its transfer engine."),
    PROTOCOLS_DO_NOT_MIX(
            SPEC_VALID,
            FALSE,
            "ProtocolsDoNotMix",
            "One transfer engine of the pool has protocol ascend and another ucx. Neither reaches what the other"
                    + " registered."),
    TCP_OF_SOME(
            SPEC_VALID,
            FALSE,
            "TcpOfSome",
            "One transfer engine of the pool has protocol tcp and another has not, so clients could go by tcp where that is"
                    + " not wanted."),
    STORAGE_WITHOUT_DEVICES(
            SPEC_VALID,
            FALSE,
            "StorageWithoutDevices",
            "A storage set has a transfer engine with accelerator.mode Embedded, in which storage nodes have no NPU."),
    LINK_WITHOUT_HOST_MEMORY(
            SPEC_VALID,
            FALSE,
            "LinkWithoutHostMemory",
            "The link of the NPUs is HCCS, which does not reach memory of other hosts, and the pool's segments are there."),
    LEASE_TOO_SHORT(
            SPEC_VALID,
            FALSE,
            "LeaseTooShort",
            "cache.objectLease is not longer than a connection and a transfer of NPUs may take together."),
    ENVIRONMENT_OF_FIELDS(
            SPEC_VALID,
            FALSE,
            "EnvironmentOfFields",
            "A podTemplate sets a variable that accelerator.transfer of the transfer engine decides."),
    PORTS_OVERLAP(
            SPEC_VALID,
            FALSE,
            "PortsOverlap",
            "With hostNetwork, ports of NPUs are those of a storage set of this or another pool."),
    VOLUME_WITHOUT_HUGE_PAGES(
            SPEC_VALID,
            FALSE,
            "VolumeWithoutHugePages",
            "A storage set has persistent volume claims and its transfer engine asks for huge pages, which only"
                    + " memory has."),

    NAMESPACE_REFUSES_HOST_PATH(
            SPEC_VALID,
            FALSE,
            "NamespaceRefusesHostPath",
            "A storage set has a hostPath volume, or the transfer engine has agents or a socketDirectory, and the"
                    + " namespace enforces a pod security level that does not admit hostPath. The message names the label and"
                    + " how to fix it."),
    NAMESPACE_REFUSES_HOST_NETWORK(
            SPEC_VALID,
            FALSE,
            "NamespaceRefusesHostNetwork",
            "The transfer engine has hostNetwork, and the namespace enforces a pod security level that does not admit"
                    + " it. The message names the label and how to fix it."),
    NAMESPACE_REFUSES_MEMORY_LOCK(
            SPEC_VALID,
            FALSE,
            "NamespaceRefusesMemoryLock",
            "The transfer engine has an accelerator or RDMA devices, for which storage nodes lock memory, and the"
                    + " namespace enforces a pod security level that does not admit that capability. The message names the"
                    + " label and how to fix it."),

    NAMESPACE_REFUSES_POD_TEMPLATE(
            SPEC_VALID,
            FALSE,
            "NamespaceRefusesPodTemplate",
            "A podTemplate asks for what the pod security level of the namespace admits to no pod; the message names the fields and the"
                    + " label."),

    SOCKET_PATH_TOO_LONG(
            SPEC_VALID,
            FALSE,
            "SocketPathTooLong",
            "The path of a socket (socketDirectory of the transfer engine, namespace, pool) is longer than the system"
                    + " allows."),

    APPLIED(SPEC_APPLIED, TRUE, "Applied", "The pool's objects are as the spec says."),
    PAUSED(SPEC_APPLIED, FALSE, "Paused", "spec.paused is true: no object of the pool is changed."),
    SPEC_INVALID(SPEC_APPLIED, FALSE, "SpecInvalid", "No object was changed, because the spec is not valid."),
    WOULD_LOSE_BYTES(
            SPEC_APPLIED,
            FALSE,
            "WouldLoseBytes",
            "A part of the spec is not carried out, because that would lose cached bytes. It is carried out when"
                    + " spec.onDataLoss is Move or Replace, or for one pod when you delete that pod."),
    WAITS_FOR_DRAIN(
            SPEC_APPLIED,
            FALSE,
            "WaitsForDrain",
            "Storage nodes that the spec removes are emptied first. Condition Draining shows the progress."),
    REPLACES_PODS(
            SPEC_APPLIED,
            FALSE,
            "ReplacesPods",
            "Pods that were made with earlier settings are replaced, a few at a time. status.steps shows the progress."),
    REMOVES_MASTERS(
            SPEC_APPLIED,
            FALSE,
            "RemovesMasters",
            "The spec asks for fewer masters, and they are removed one by one; one that leads hands over first. status.steps shows the"
                    + " progress."),
    NODE_LEFT_OUT(
            SPEC_APPLIED,
            FALSE,
            "NodeLeftOut",
            "A Kubernetes node that perNode selects gets no storage node. The message says why. Everything else is"
                    + " carried out."),
    REQUEST_NOT_UNDERSTOOD(
            SPEC_APPLIED,
            FALSE,
            "RequestNotUnderstood",
            "An annotation kvpool.dev/restart of the pool is not a time or names no role, kvpool.dev/retry is too long, or"
                    + " kvpool.dev/drain or kvpool.dev/failover has another form, so nothing"
                    + " is done for it. Everything else is carried out."),
    REMOVES_DIRECTORIES(
            SPEC_APPLIED,
            FALSE,
            "RemovesDirectories",
            "Storage nodes of a set with a hostPath volume were removed, and Jobs on their Kubernetes nodes remove"
                    + " their directories. Everything else is carried out."),
    MASTERS_READ_RULES(
            SPEC_APPLIED,
            FALSE,
            "MastersReadRules",
            "Masters still use earlier cache rules. The kubelets deliver the new ones within two minutes; no pod is"
                    + " recreated. The message says if a master cannot read them."),
    NAME_TAKEN(
            SPEC_APPLIED,
            FALSE,
            "NameTaken",
            "An object of another owner has a name that the pool needs. It is not changed."),
    APPLY_FAILED(SPEC_APPLIED, FALSE, "ApplyFailed", "The API server refused an object. The operator retries."),

    ELECTED(LEADER_ELECTED, TRUE, "Elected", "One master leads and serves."),
    SEVERAL_LEADERS(
            LEADER_ELECTED,
            FALSE,
            "SeveralLeaders",
            "More than one master says that it leads and serves. Storage nodes accept the highest epoch only, so no"
                    + " object is written twice. A master that continues for longer than the Lease duration is cut off from the"
                    + " API server, or its clock has stopped."),
    NO_LEADER(LEADER_ELECTED, FALSE, "NoLeader", "No master holds the leadership Lease."),
    LEADER_NOT_SERVING(
            LEADER_ELECTED,
            FALSE,
            "LeaderNotServing",
            "The holder of the Lease does not serve yet: it waits for storage nodes, or for object leases of the"
                    + " previous leader to expire."),
    LEADER_DIED(
            LEADER_ELECTED,
            FALSE,
            "LeaderDied",
            "The container of the Lease's holder has ended. The operator told the other masters, so that one takes"
                    + " over."),
    LEADER_SILENT(LEADER_ELECTED, UNKNOWN, "LeaderSilent", "The holder of the Lease does not answer the operator."),

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
            "Every storage node is ready, but one whose disk is full or failing uses its memory only. What was on"
                    + " that disk is lost. The pod tries the disk again when it restarts."),
    INDEX_FULL(
            STORAGE_READY,
            TRUE,
            "IndexFull",
            "Every storage node is ready, but the leader's index is full: puts are refused until objects are evicted"
                    + " or removed, or masters get more memory."),
    NODE_SET_APART(
            STORAGE_READY,
            FALSE,
            "NodeSetApart",
            "The leader cannot process what a storage node reports of its objects, or has no room for them, and"
                    + " excludes that node for a while. The rest of the pool serves. The message says why; the leader's log has"
                    + " details."),
    AWAITS_WITNESS(
            STORAGE_READY,
            FALSE,
            "AwaitsWitness",
            "A storage node was unavailable while objects were removed or replaced, and all nodes that know which"
                    + " ones are unavailable now, or lost their memory. What that node held before is unavailable, and removals"
                    + " fail. The message names the nodes that the pool waits for; `kubectl kvpool forget POOL NODE` gives up a"
                    + " node that does not come back."),
    NODES_NOT_READY(
            STORAGE_READY, FALSE, "NodesNotReady", "Storage nodes are not ready. The message says which and why."),
    NO_NODE_SELECTED(
            STORAGE_READY,
            FALSE,
            "NoNodeSelected",
            "The pool has no storage node, because no Kubernetes node matches perNode. One that does gets a storage"
                    + " node."),
    NO_ENGINE_JOINED(
            STORAGE_READY,
            FALSE,
            "NoEngineJoined",
            "The spec has no storage nodes, and no engine contributes memory yet: puts fail until one does. The pool"
                    + " is Ready nevertheless, since engines start after it."),
    STORAGE_NOT_OBSERVED(STORAGE_READY, UNKNOWN, "StorageNotObserved", "No leader answered about the storage nodes."),

    SAME_VERSION(
            VERSION_COMPATIBLE,
            TRUE,
            "SameVersion",
            "Every master and storage node that answered runs the wanted version."),
    MIXED_VERSIONS(
            VERSION_COMPATIBLE,
            TRUE,
            "MixedVersions",
            "Masters or storage nodes run different versions that are compatible."),
    VERSION_DIFFERS(VERSION_COMPATIBLE, FALSE, "VersionDiffers", "The masters run another version than spec.version."),
    NODE_REFUSED(
            VERSION_COMPATIBLE,
            FALSE,
            "NodeRefused",
            "A master and a storage node refused each other. The message says why."),
    VERSION_NOT_OBSERVED(VERSION_COMPATIBLE, UNKNOWN, "VersionNotObserved", "No master answered about its version."),

    NO_UPGRADE(UPGRADE_BLOCKED, FALSE, "NoUpgrade", "The pool runs the image of its spec."),
    UPGRADING(
            UPGRADE_BLOCKED,
            FALSE,
            "Upgrading",
            "The pool is upgraded to another image. The message names the current step."),
    UPGRADE_PAUSED(UPGRADE_BLOCKED, FALSE, "UpgradePaused", "spec.upgrade.paused is true: no further step starts."),
    VERSION_REFUSED(
            UPGRADE_BLOCKED,
            TRUE,
            "VersionRefused",
            "The wanted image is not compatible with the pool, or its preflight could not run. The message names both"
                    + " sides and how to fix it. The pool stays as it is."),
    GOING_BACK(
            UPGRADE_BLOCKED,
            TRUE,
            "GoingBack",
            "A step of the upgrade failed, or the spec was changed back. Upgraded pods are rolled back, and storage"
                    + " nodes that were being emptied take objects again."),
    UPGRADE_FAILED(
            UPGRADE_BLOCKED,
            TRUE,
            "UpgradeFailed",
            "A step of the upgrade failed. The pool was rolled back, except masters that never ran the old image. The"
                    + " upgrade is retried when annotation kvpool.dev/retry gets another value, or when the spec names another"
                    + " image."),

    NO_DRAIN(DRAINING, FALSE, "NoDrain", "No storage node is being removed or emptied."),
    DRAIN_WAITS(
            DRAINING,
            FALSE,
            "DrainWaits",
            "Storage nodes that the spec removes, or whose Kubernetes nodes are cordoned, cannot be emptied now. The"
                    + " message says what they wait for."),
    MAY_BE_EVICTED(
            DRAINING,
            TRUE,
            "MayBeEvicted",
            "Storage nodes on cordoned Kubernetes nodes are empty, or keep their objects on their own volumes, or"
                    + " spec.drain.nodeTimeout has passed. Their pods may be evicted."),
    DRAIN_CANCELLED(
            DRAINING,
            FALSE,
            "DrainCancelled",
            "Storage nodes that were being emptied stay, or have left a cordoned Kubernetes node, and take objects"
                    + " again."),
    EMPTIED_BY_HAND(
            DRAINING,
            TRUE,
            "EmptiedByHand",
            "Storage nodes are empty that neither the spec nor a cordoned Kubernetes node asks for: a user asked the operator for it,"
                    + " or told the leader. They take no objects meanwhile."),
    EMPTYING(
            DRAINING,
            TRUE,
            "Emptying",
            "Storage nodes that the spec removes, or whose Kubernetes nodes are cordoned, are being emptied: objects"
                    + " that only they hold are moved to others."),
    LEFTOVERS(
            DRAINING,
            TRUE,
            "Leftovers",
            "A storage node that is being emptied holds objects that fit nowhere else. It stays until they do, or"
                    + " until spec.drain.onLeftovers is Drop, or, on a cordoned Kubernetes node, until spec.drain.nodeTimeout"
                    + " has passed."),

    TLS_REQUIRED(
            SECURED,
            TRUE,
            "TlsRequired",
            "All pods of the pool take TLS only, and each peer may do what its certificate says. The condition is there only in pools"
                    + " with spec.security.mode Permissive or Required, and while one goes back to Off."),
    PLAIN_PEERS_ADMITTED(
            SECURED,
            FALSE,
            "PlainPeersAdmitted",
            "spec.security.mode is Permissive: the pool's own pods use TLS, and peers without certificates may still do everything."),
    PODS_OF_ANOTHER_MODE(
            SECURED,
            FALSE,
            "PodsOfAnotherMode",
            "Pods run with another mode than spec.security.mode. They are made again in their turn, and storage pods only as"
                    + " spec.onDataLoss says; until then peers without certificates may still do everything."),
    AUTHORITY_VALID(
            CERTIFICATES_VALID,
            TRUE,
            "AuthorityValid",
            "The pool's certificate authority is there, and does not end soon. The condition is there only with condition Secured."),
    AUTHORITY_PENDING(
            CERTIFICATES_VALID,
            FALSE,
            "AuthorityPending",
            "The pool's certificate authority is being made. No pod is made before it is there."),
    AUTHORITY_ENDS_SOON(
            CERTIFICATES_VALID,
            FALSE,
            "AuthorityEndsSoon",
            "The pool's certificate authority ends within 7 days (a quarter of the chart's authorities.renewBefore, where that is"
                    + " less), or has ended, and not all masters sign with the next one, as where the pool is"
                    + " paused or its spec cannot be carried out. No certificate is valid any longer than that."),
    AUTHORITY_ROTATES(
            CERTIFICATES_VALID,
            TRUE,
            "AuthorityRotates",
            "The pool changes to its next certificate authority while it serves: 30 days before the end of the one before (the chart's authorities.renewBefore), or since"
                    + " annotation kvpool.dev/rotate-ca asks for it. The message says how far it is and what it waits for."),
    CERTIFICATES_ENDED(
            CERTIFICATES_VALID,
            FALSE,
            "CertificatesEnded",
            "The certificate of a master, storage node or agent has ended, and it has got no other one. No process of the pool speaks with it. The"
                    + " message names the processes; their logs say why (no certificate from a master)."),
    TRUST_CHANGED(
            CERTIFICATES_VALID,
            FALSE,
            "TrustChanged",
            "The certificate in ConfigMap POOL-trust is not the one that it is named by: it was changed. Processes that read it"
                    + " trust another certificate authority than masters sign with."),

    CERTIFICATES_OF_DIRECTORIES(
            CERTIFICATES_VALID,
            TRUE,
            "CertificatesOfDirectories",
            "spec.security.certificates.source is Directory: others make the certificates, those that masters use are valid, and no pod"
                    + " complains about its own."),
    CERTIFICATES_NOT_RENEWED(
            CERTIFICATES_VALID,
            FALSE,
            "CertificatesNotRenewed",
            "Certificates of masters, which others make, have less than a sixth of their life left, and others have not replaced them. The"
                    + " message names the masters, and what theirs come from."),
    CERTIFICATE_ROOT_ENDS(
            CERTIFICATES_VALID,
            FALSE,
            "CertificateRootEnds",
            "The root in spec.security.certificates.ca ends within 30 days, or has ended. Nothing is valid any longer than that, and nothing"
                    + " brings another one by itself."),
    CERTIFICATES_NOT_OBSERVED(
            CERTIFICATES_VALID,
            UNKNOWN,
            "CertificatesNotObserved",
            "Certificates that others make may be of no use: a master that is ready gives the operator no answer, as one does whose certificate has"
                    + " ended or does not lead to spec.security.certificates.ca; or pods are on their nodes and have not begun, as where a driver"
                    + " does not mount the volume. The message names the pods. It is so for a short time while pods start."),
    CERTIFICATES_UNUSABLE(
            CERTIFICATES_VALID,
            FALSE,
            "CertificatesUnusable",
            "Pods do not start with what is in their directories of certificates, which others fill: files are missing, unreadable, of another"
                    + " name, ended or not of the certificate authority. The message names the pods and what they said."),

    GUARANTEES_FIT(
            TENANTS_OVERCOMMITTED,
            FALSE,
            "GuaranteesFit",
            "The storage nodes that are ready hold what is guaranteed to tenants. The condition is there only in pools with"
                    + " spec.tenants[].bytes.guaranteed."),
    GUARANTEES_SCALED_DOWN(
            TENANTS_OVERCOMMITTED,
            TRUE,
            "GuaranteesScaledDown",
            "More is guaranteed to tenants than the storage nodes that are ready hold below the low watermark, which is what eviction"
                    + " leaves. Each tenant has the same part of its guarantee; the message has the numbers."),
    GUARANTEES_NOT_OBSERVED(
            TENANTS_OVERCOMMITTED,
            UNKNOWN,
            "GuaranteesNotObserved",
            "No leader answered, or no storage node is ready."),

    RUNTIME_FOUND(
            ASCEND_RUNTIME_READY,
            TRUE,
            "RuntimeFound",
            "Storage pods found CANN and their NPUs when they started. The message says what else they may lack. The condition is"
                    + " there only in pools whose storage nodes open NPUs."),
    CANN_LIBRARY_NOT_FOUND(
            ASCEND_RUNTIME_READY,
            FALSE,
            "CannLibraryNotFound",
            "A library of CANN, or one of the driver that it needs, is missing in storage pods. The message has the paths that were"
                    + " tried. The storage nodes use their other protocols, or do not start with ascend alone."),
    SYMBOL_MISSING(
            ASCEND_RUNTIME_READY,
            FALSE,
            "SymbolMissing",
            "CANN in storage pods lacks a function: it is older than 8.3, or not whole. The storage nodes use their other protocols,"
                    + " or do not start with ascend alone."),
    DRIVER_TOO_OLD(
            ASCEND_RUNTIME_READY,
            FALSE,
            "DriverTooOld",
            "The driver of a Kubernetes node is older than the transfer engine's accelerator needs. The message has both versions."),
    NO_DEVICE(
            ASCEND_RUNTIME_READY,
            FALSE,
            "NoDevice",
            "Storage pods have no NPU, or cannot open theirs. The message says why. The storage nodes use their other"
                    + " protocols, or do not start with ascend alone."),
    DEVICE_UNHEALTHY(
            ASCEND_RUNTIME_READY,
            FALSE,
            "DeviceUnhealthy",
            "Ascend's device plugin says that an NPU of a storage pod is not well. Condition Draining shows how far that storage node is"
                    + " emptied; it takes part again when the NPU is well."),
    DEVICES_NOT_CHECKED(
            ASCEND_RUNTIME_READY,
            UNKNOWN,
            "DevicesNotChecked",
            "Storage pods have not looked for their NPUs yet, or were made by an operator that had no such check.");

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
