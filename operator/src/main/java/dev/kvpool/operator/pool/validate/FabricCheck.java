// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.engine.Protocol;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.List;

/** Whether a pool that requires TLS is given protocols that have none, which its owner must want. Pure. */
final class FabricCheck {
    private FabricCheck() {}

    static List<Finding> of(PoolObservation seen) {
        if (seen.spec().security().mode() != SecurityMode.REQUIRED) {
            return List.of();
        }
        return seen.engines().stream()
                .filter(engine -> !engine.getSpec().trustedFabric())
                .flatMap(engine -> engine.getSpec().fabric().stream()
                        .map(protocol -> finding(engine.getMetadata().getName(), protocol)))
                .toList();
    }

    private static Finding finding(String engine, Protocol protocol) {
        return new Finding(
                Reason.FABRIC_NOT_TRUSTED,
                ("The pool requires TLS, and protocol %s in TransferEngine %s authenticates no peer and encrypts nothing. Set"
                                + " trustedFabric: true there if every host on that network is trusted, or remove the protocol.")
                        .formatted(protocol.word(), engine));
    }
}
