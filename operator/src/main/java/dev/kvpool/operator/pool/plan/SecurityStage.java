// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.security.PoolSecurity;
import dev.kvpool.operator.pool.security.PoolTrust;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Which mode the next pods of a pool get, while others still run with another one. Pure.
 *
 * <p>A process in mode Off takes no TLS, one in mode Required takes nothing else, and one in mode Permissive takes both and dials TLS. So no pod
 * is Required while one is Off, nor the other way round; and storage nodes and agents, which dial masters and get their certificates of
 * them, are Permissive only when no master is Off.
 */
public final class SecurityStage {
    private SecurityStage() {}

    /** Finds it. */
    public static PoolSecurity of(PoolObservation seen, OperatorSettings settings) {
        Set<SecurityMode> masters = modes(seen, PoolLabels.ROLE_MASTER);
        Set<SecurityMode> members = modes(seen, PoolLabels.ROLE_STORAGE);
        members.addAll(modes(seen, PoolLabels.ROLE_AGENT));
        Set<SecurityMode> all = EnumSet.copyOf(masters);
        all.addAll(members);
        SecurityMode wanted = seen.spec().security().mode();
        SecurityMode next = switch (wanted) {
            case OFF -> all.contains(SecurityMode.REQUIRED) ? SecurityMode.PERMISSIVE : wanted;
            case PERMISSIVE -> wanted;
            case REQUIRED -> all.contains(SecurityMode.OFF) ? SecurityMode.PERMISSIVE : wanted;
        };
        Optional<CertificatesSpec> directory = seen.spec().security().directory();
        boolean membersDialTls = members.stream().anyMatch(SecurityMode::isOn);
        return new PoolSecurity(
                next == SecurityMode.OFF && membersDialTls ? SecurityMode.PERMISSIVE : next,
                next.isOn() && masters.contains(SecurityMode.OFF) ? SecurityMode.OFF : next,
                directory.isPresent() ? Optional.empty() : PoolTrust.among(seen.children(), seen.names()),
                settings.account(),
                directory,
                seen.storageAccounts());
    }

    private static Set<SecurityMode> modes(PoolObservation seen, String role) {
        Set<SecurityMode> modes = EnumSet.noneOf(SecurityMode.class);
        seen.pods(role).stream().map(ObservedPod::security).forEach(modes::add);
        return modes;
    }
}
