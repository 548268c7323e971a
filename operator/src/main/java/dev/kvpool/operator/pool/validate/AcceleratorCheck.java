// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.engine.AcceleratorLink;
import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.engine.Protocol;
import dev.kvpool.api.v1alpha1.pod.EnvironmentVariable;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.pool.ascend.AscendEnvironment;
import dev.kvpool.operator.pool.ascend.DevicePorts;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.NodePorts;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.PortClaim;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Whether a pool and its transfer engines ask of NPUs what those can do. CANN would say most of it too, on each machine and in other
 * words: transfers that fail, processes that do not start. Pure.
 */
final class AcceleratorCheck {
    private final PoolObservation seen;
    private final TransferEngine engine;
    private final AcceleratorSpec accelerator;
    private final List<StorageSetSpec> sets;

    private AcceleratorCheck(PoolObservation seen, TransferEngine engine) {
        this.seen = seen;
        this.engine = engine;
        this.accelerator = engine.getSpec().accelerator();
        this.sets = seen.spec().storage().stream()
                .filter(set -> name().equals(seen.spec().transferEngine(set)))
                .toList();
    }

    /** What cannot be carried out. */
    static List<Finding> of(PoolObservation seen) {
        List<Finding> problems = new ArrayList<>();
        mixture(seen).ifPresent(problems::add);
        tcpOfSome(seen).ifPresent(problems::add);
        for (AcceleratorCheck check : checks(seen)) {
            check.embedded().ifPresent(problems::add);
            check.reach().ifPresent(problems::add);
            check.lease().ifPresent(problems::add);
            check.environment().ifPresent(problems::add);
            check.ports().ifPresent(problems::add);
        }
        return problems;
    }

    private static List<AcceleratorCheck> checks(PoolObservation seen) {
        return seen.engines().stream()
                .filter(engine -> engine.getSpec().accelerator() != null)
                .map(engine -> new AcceleratorCheck(seen, engine))
                .toList();
    }

    /** In one transfer engine the schema refuses it. */
    private static Optional<Finding> mixture(PoolObservation seen) {
        List<String> ascend = enginesWith(seen, Protocol.ASCEND);
        List<String> ucx = enginesWith(seen, Protocol.UCX);
        if (ascend.isEmpty() || ucx.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Reason.PROTOCOLS_DO_NOT_MIX,
                ("TransferEngine %s has protocol ascend and TransferEngine %s ucx: they use different network cards, and neither reaches"
                                + " memory that the other registered. Remove one of the two protocols, or make two pools.")
                        .formatted(NameList.of(ascend), NameList.of(ucx))));
    }

    /** A client has one list of protocols: with tcp in it, for some storage nodes, it would go by tcp with the others too, unasked. */
    private static Optional<Finding> tcpOfSome(PoolObservation seen) {
        List<String> with = enginesWith(seen, Protocol.TCP);
        List<String> without = seen.engines().stream()
                .map(engine -> engine.getMetadata().getName())
                .filter(name -> !with.contains(name))
                .toList();
        boolean byDefault = seen.spec().transferEngine() == null;
        if (without.isEmpty() || (with.isEmpty() && !byDefault)) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Reason.TCP_OF_SOME,
                ("TransferEngine %s has no protocol tcp, and %s has it: clients, which have one list of protocols for all storage nodes"
                                + " of a pool, would use it with all. Add tcp to the former, or use only transfer engines without"
                                + " it for the pool and its storage sets, or make two pools.")
                        .formatted(
                                NameList.of(without),
                                with.isEmpty()
                                        ? "the pool, which names no transferEngine of its own,"
                                        : "TransferEngine " + NameList.of(with))));
    }

    private static List<String> enginesWith(PoolObservation seen, Protocol protocol) {
        return seen.engines().stream()
                .filter(engine -> engine.getSpec().protocols().contains(protocol))
                .map(engine -> engine.getMetadata().getName())
                .toList();
    }

    private Optional<Finding> embedded() {
        if (accelerator.opensDevices() || sets.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Reason.STORAGE_WITHOUT_DEVICES,
                ("TransferEngine %s has accelerator.mode Embedded, in which engines alone open NPUs, and %s cannot serve protocol ascend"
                                + " without one. Set the mode to Dedicated or Shared, or name a transferEngine without ascend in"
                                + " the set, or make the pool without storage sets (spec.storage: []).")
                        .formatted(name(), setNames(sets))));
    }

    private Optional<Finding> reach() {
        if (accelerator.transfer().link() != AcceleratorLink.HCCS) {
            return Optional.empty();
        }
        List<String> where = new ArrayList<>();
        if (!sets.isEmpty()) {
            where.add(setNames(sets));
        }
        engineSegment().ifPresent(size -> where.add("engines (engineSegmentSize %s)".formatted(size)));
        return where.isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Reason.LINK_WITHOUT_HOST_MEMORY,
                        ("TransferEngine %s has accelerator.transfer.link HCCS, which does not reach memory of other hosts, and the"
                                        + " segments of %s are there. Set the link to RoCE, or to Fabric with chip A3.")
                                .formatted(name(), String.join(" and of ", where))));
    }

    /** A reader may be in the middle of a transfer, from an address it was told, for as long. */
    private Optional<Finding> lease() {
        String lease = seen.spec().cache().objectLease();
        String connect = accelerator.transfer().connectTimeout();
        String transfer = accelerator.transfer().transferTimeout();
        Duration longest = ApiDuration.of(connect).plus(ApiDuration.of(transfer));
        if (ApiDuration.of(lease).compareTo(longest) > 0) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Reason.LEASE_TOO_SHORT,
                ("spec.cache.objectLease is %s, and a read by NPUs may take %s (connectTimeout) and %s (transferTimeout of"
                                + " TransferEngine %s): the object might be evicted meanwhile. Make the lease longer than both"
                                + " together, or the timeouts shorter.")
                        .formatted(lease, connect, transfer, name())));
    }

    private Optional<Finding> environment() {
        return sets.stream()
                .flatMap(set -> set.podTemplate().env().stream()
                        .map(EnvironmentVariable::name)
                        .filter(AscendEnvironment::isOfField)
                        .map(variable -> new Finding(
                                Reason.ENVIRONMENT_OF_FIELDS,
                                ("Storage set %s sets %s in its podTemplate, which accelerator.transfer of TransferEngine %s decides,"
                                                + " for engines too. Remove the variable and set the field.")
                                        .formatted(set.name(), variable, name()))))
                .findFirst();
    }

    /** On the network of pods the NPUs of a pod have its address to themselves. */
    private Optional<Finding> ports() {
        if (!opensOnHosts()) {
            return Optional.empty();
        }
        DevicePorts ports = DevicePorts.of(accelerator);
        return Stream.of(ofThisPool(ports), ofOthers(ports), npusOfThisPool(ports), npusOfOthers(ports))
                .flatMap(found -> found)
                .findFirst();
    }

    private boolean opensOnHosts() {
        return engine.getSpec().hostNetwork() && accelerator.opensDevices() && !sets.isEmpty();
    }

    private Stream<Finding> ofThisPool(DevicePorts ports) {
        Map<String, NodePorts> planned = PortPlan.of(seen).ports();
        return seen.spec().storage().stream()
                .filter(set -> seen.engineSpecs().of(set).hostNetwork())
                .filter(set -> planned.containsKey(set.name()) && ports.contain(planned.get(set.name())))
                .map(set -> overlap(ports, "storage set " + set.name(), planned.get(set.name())));
    }

    private Stream<Finding> ofOthers(DevicePorts ports) {
        String me = PortClaim.ownerOf(seen.names().namespace(), seen.names().pool());
        return seen.surroundings().portClaims().stream()
                .filter(claim -> !claim.owner().equals(me) && ports.contain(claim.ports()))
                .map(claim -> overlap(ports, claim.workload() + " of pool " + claim.owner(), claim.ports()));
    }

    private Stream<Finding> npusOfThisPool(DevicePorts ports) {
        return checks(seen).stream()
                .filter(AcceleratorCheck::opensOnHosts)
                .filter(other -> name().compareTo(other.name()) < 0 && ports.meet(DevicePorts.of(other.accelerator)))
                .map(other -> mixed(ports, "TransferEngine " + other.name(), DevicePorts.of(other.accelerator)));
    }

    private Stream<Finding> npusOfOthers(DevicePorts ports) {
        String me = PortClaim.ownerOf(seen.names().namespace(), seen.names().pool());
        return seen.surroundings().portClaims().stream()
                .filter(claim -> !claim.owner().equals(me)
                        && claim.devices().filter(ports::meet).isPresent())
                .map(claim -> mixed(
                        ports,
                        claim.workload() + " of pool " + claim.owner(),
                        claim.devices().orElseThrow()));
    }

    private Finding mixed(DevicePorts ports, String user, DevicePorts others) {
        return new Finding(
                Reason.PORTS_OVERLAP,
                ("NPUs of TransferEngine %s have ports %d to %d of Kubernetes nodes, and those of %s %d to %d: an NPU of one has ports of"
                                + " another NPU of the other. Give both the same accelerator.transfer.basePort, or ones that are"
                                + " 1600 apart.")
                        .formatted(name(), ports.first(), ports.last(), user, others.first(), others.last()));
    }

    private Finding overlap(DevicePorts ports, String user, NodePorts taken) {
        return new Finding(
                Reason.PORTS_OVERLAP,
                ("NPUs of TransferEngine %s have ports %d to %d of Kubernetes nodes, of which %s has %d and %d. Change"
                                + " accelerator.transfer.basePort, or ports of the other transfer engine.")
                        .formatted(name(), ports.first(), ports.last(), user, taken.data(), taken.admin()));
    }

    /** What engines contribute by this transfer engine, which is the pool's then. */
    private Optional<Quantity> engineSegment() {
        return name().equals(seen.spec().transferEngine()) ? seen.spec().engineSegment() : Optional.empty();
    }

    private String name() {
        return engine.getMetadata().getName();
    }

    private static String setNames(List<StorageSetSpec> sets) {
        return "storage set "
                + NameList.of(sets.stream().map(StorageSetSpec::name).toList());
    }
}
