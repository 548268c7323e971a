// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.operator.pool.child.AuthoritySecret;
import dev.kvpool.operator.pool.child.TrustConfigMap;
import dev.kvpool.operator.pool.child.part.PoolBlueprint;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.security.PoolTrust;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Makes the certificate authority of a secure pool. The key is in this process for as long as it takes to write it, and nowhere else but in the
 * Secret. An operator may end after each write:
 *
 * <pre>
 * stored                          means                                what is done next
 * nothing                         nothing was begun                    begin: ConfigMap, pending; Secret; ConfigMap, active
 * ConfigMap, pending; no Secret   the key is lost with the operator    begin again, with another key
 * ConfigMap, pending; Secret      the authority is whole               ConfigMap, active
 * ConfigMap, active               the authority is whole               nothing
 * </pre>
 *
 * Whether the Secret is there a creation says that is only tried: the operator may not read it.
 */
public final class AuthorityMaker {
    /** None takes over by itself. */
    private static final Duration LIFE = Duration.ofDays(3650);

    private final PoolObservation seen;
    private final PoolNames names;
    private final KubernetesClient client;
    private final List<String> changes = new ArrayList<>();

    private AuthorityMaker(PoolObservation seen, KubernetesClient client) {
        this.seen = seen;
        this.names = seen.names();
        this.client = client;
    }

    /**
     * What came of it.
     *
     * @param seen the pool with the ConfigMap as it is now
     * @param changes what was written, as KIND/NAME
     * @param failure why it did not go on; the next round tries again
     */
    public record Done(PoolObservation seen, List<String> changes, Optional<Finding> failure) {
        public Done {
            changes = List.copyOf(changes);
        }
    }

    /** Begins, or ends what was begun. What is stored counts, as caches may be behind. */
    public static Done make(PoolObservation seen, KubernetesClient client) {
        return new AuthorityMaker(seen, client).make();
    }

    private Done make() {
        HasMetadata named = trust(new PoolTrust("", false, "", Optional.empty(), "", ""));
        try {
            Optional<ConfigMap> stored = Optional.ofNullable(client.configMaps()
                    .inNamespace(names.namespace())
                    .withName(names.trust())
                    .get());
            if (stored.filter(map -> !ChildApplier.isOf(names, map)).isPresent()) {
                return new Done(seen, changes, Optional.of(ApiWords.nameTaken(named)));
            }
            ConfigMap active = stored.isPresent() ? finish(stored.get()) : begin("");
            return new Done(withTrust(active), changes, Optional.empty());
        } catch (KubernetesClientException e) {
            // Somebody else was here: the next round sees what he wrote.
            return new Done(
                    seen,
                    changes,
                    e.getCode() == HttpURLConnection.HTTP_CONFLICT
                            ? Optional.empty()
                            : Optional.of(ApiWords.notChanged(named, e)));
        }
    }

    /** Where the Secret is missing the key went with the operator that was about to write it. */
    private ConfigMap finish(ConfigMap stored) {
        PoolTrust trust = PoolTrust.of(stored);
        if (trust.active()) {
            return stored;
        }
        return !trust.fingerprint().isEmpty() && isThere(stored, trust)
                ? apply(trust.activated())
                : begin(trust.version());
    }

    /** The right to create is enough to ask. */
    private boolean isThere(ConfigMap stored, PoolTrust trust) {
        try {
            client.resource(AuthoritySecret.of(names, stored, trust.fingerprint(), "", ""))
                    .dryRun()
                    .create();
            return false;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
                return true;
            }
            throw e;
        }
    }

    /** In this order, so that no Secret is there of which the ConfigMap does not know. */
    private ConfigMap begin(String version) {
        Instant now = seen.now().truncatedTo(ChronoUnit.SECONDS);
        CertificateAuthority authority = CertificateAuthority.create(UUID.fromString(seen.poolId()), now, LIFE);
        String fingerprint = CertificateAuthority.fingerprint(authority.certificate());
        PoolTrust pending =
                new PoolTrust(fingerprint, false, authority.roots(), Optional.of(now.plus(LIFE)), version, "");
        ConfigMap written = apply(pending);
        Secret secret = AuthoritySecret.of(
                names, written, fingerprint, Pem.encode(authority.certificate()), Pem.encodeKey(authority.key()));
        client.resource(secret).create();
        changes.add(ObjectTitle.of(secret));
        return apply(PoolTrust.of(written).activated());
    }

    /** Refused when another one has written since. */
    private ConfigMap apply(PoolTrust trust) {
        ConfigMap map = trust(trust);
        if (!trust.version().isEmpty()) {
            map.getMetadata().setResourceVersion(trust.version());
        }
        ConfigMap written = client.resource(map)
                .fieldManager(PoolLabels.OPERATOR)
                .forceConflicts()
                .serverSideApply();
        changes.add(ObjectTitle.of(map));
        return written;
    }

    private ConfigMap trust(PoolTrust trust) {
        return TrustConfigMap.of(
                PoolBlueprint.metadata(
                        names,
                        seen.pool().getMetadata().getUid(),
                        seen.poolId(),
                        seen.spec().deletionPolicy(),
                        names.trust(),
                        PoolLabels.ofPool(names.pool())),
                trust);
    }

    private PoolObservation withTrust(ConfigMap map) {
        List<HasMetadata> children = new ArrayList<>(seen.children());
        children.removeIf(child ->
                child instanceof ConfigMap && child.getMetadata().getName().equals(names.trust()));
        children.add(map);
        return seen.with(children);
    }
}
