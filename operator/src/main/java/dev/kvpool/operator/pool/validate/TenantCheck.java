// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.engine.Protocol;
import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.api.v1alpha1.security.TenantSpec;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.security.AccountRoles;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Whether tenants can be kept apart, and whether each ServiceAccount is one thing only. Pure. */
final class TenantCheck {
    private TenantCheck() {}

    static List<Finding> of(PoolObservation seen, OperatorSettings settings) {
        List<Finding> problems = new ArrayList<>();
        if (seen.spec().security().mode().isOn()) {
            roles(seen, settings).flatMap(TenantCheck::ambiguous).ifPresent(problems::add);
        }
        // Alone, the tenant that there always is shares with no other.
        if (seen.spec().tenants().stream().anyMatch(tenant -> !tenant.name().equals(TenantSpec.DEFAULT))) {
            sharing(seen).ifPresent(problems::add);
        }
        return problems;
    }

    /** Of the pods that are known by their ServiceAccounts; empty where certificates say what each process is. */
    private static Optional<AccountRoles> roles(PoolObservation seen, OperatorSettings settings) {
        if (seen.spec().security().directory().isEmpty()) {
            return Optional.of(AccountRoles.of(
                    seen.names(),
                    seen.spec(),
                    seen.engineSpecs().ofPool(),
                    settings.account(),
                    seen.storageAccounts()));
        }
        return seen.spec()
                .security()
                .directory()
                .map(CertificatesSpec::trustDomain)
                .map(domain ->
                        AccountRoles.ofForeign(seen.names(), seen.spec(), settings.account(), seen.storageAccounts()));
    }

    private static Optional<Finding> ambiguous(AccountRoles roles) {
        List<String> sentences = roles.ambiguous().entrySet().stream()
                .map(account -> "%s would be %s".formatted(account.getKey(), String.join(" and ", account.getValue())))
                .toList();
        return sentences.isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Reason.ACCOUNT_IN_TWO_ROLES,
                        ("ServiceAccount %s: its certificates can have one name only. Give each tenant and each set of storage nodes"
                                        + " ServiceAccounts of its own; storage pods that are there count until they have gone.")
                                .formatted(NameList.of(sentences))));
    }

    private static Optional<Finding> sharing(PoolObservation seen) {
        Set<String> shared = new TreeSet<>();
        for (TransferEngine engine : seen.engines()) {
            String name = engine.getMetadata().getName();
            if (engine.getSpec().protocolsOfNodes().contains(Protocol.SHM)) {
                shared.add("protocol shm in TransferEngine %s (remove socketDirectory)".formatted(name));
            }
            engine.getSpec()
                    .fabric()
                    .ifPresent(protocol -> shared.add(
                            "protocol %s in TransferEngine %s (remove it)".formatted(protocol.word(), name)));
        }
        seen.engine()
                .filter(engine -> engine.getSpec().agents() != null)
                .ifPresent(engine -> shared.add("agents in TransferEngine %s (remove them)"
                        .formatted(engine.getMetadata().getName())));
        seen.spec()
                .engineSegment()
                .ifPresent(bytes -> shared.add("memory of engines (%s)"
                        .formatted(
                                seen.spec().storage().isEmpty() ? "add a storage set" : "remove engineSegmentSize")));
        return shared.isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Reason.TENANTS_SHARE_MEMORY,
                        "Tenants %s cannot be kept apart with %s: a whole segment is open to each engine that reaches it that way."
                                .formatted(
                                        NameList.of(seen.spec().tenants().stream()
                                                .map(TenantSpec::name)
                                                .toList()),
                                        NameList.of(List.copyOf(shared)))));
    }
}
