// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.operator.pool.child.AuthorityConfigMap;
import dev.kvpool.operator.pool.child.AuthoritySecret;
import dev.kvpool.operator.pool.child.TrustConfigMap;
import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.security.AuthorityRotation;
import dev.kvpool.operator.pool.security.AuthorityWrites;
import dev.kvpool.operator.pool.security.AuthorityWrites.Write;
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
 * Makes the certificate authority of a secure pool, and the ones that follow it. The key is in this process for as long as it takes to write it, and
 * nowhere else but in the Secret. An operator may end after each write:
 *
 * <pre>
 * stored                          means                                what is done next
 * nothing                         nothing was begun                    begin: ConfigMap, pending; Secret; ConfigMap, active
 * ConfigMap, pending; no Secret   the key is lost with the operator    begin again, with another key
 * ConfigMap, pending; Secret      the authority is whole               ConfigMap, active
 * ConfigMap, active               the authority is whole               what {@link AuthorityRotation} decides
 * </pre>
 *
 * Whether the Secret is there a creation says that is only tried: the operator may not read it.
 */
public final class AuthorityMaker {
    private final PoolObservation seen;
    private final PoolNames names;
    private final KubernetesClient client;
    private final Duration life;
    private final List<String> changes = new ArrayList<>();

    /** What the next Secret belongs to. */
    private Optional<ConfigMap> owner = Optional.empty();

    private AuthorityMaker(PoolObservation seen, KubernetesClient client, Duration life) {
        this.seen = seen;
        this.names = seen.names();
        this.client = client;
        this.life = life;
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

    /**
     * Begins, or ends what was begun. What is stored counts, as caches may be behind.
     *
     * @param life of a CA
     */
    public static Done make(PoolObservation seen, KubernetesClient client, Duration life) {
        AuthorityMaker maker = new AuthorityMaker(seen, client, life);
        return maker.attempt(maker::first);
    }

    /**
     * Does a step of a rotation, if what is stored is still what it was decided from.
     *
     * @param life of a CA
     */
    public static Done rotate(
            PoolObservation seen, KubernetesClient client, Duration life, AuthorityRotation.Step step) {
        AuthorityMaker maker = new AuthorityMaker(seen, client, life);
        return maker.attempt(stored -> maker.rotated(stored, step));
    }

    /** What is to be written, where this is stored. */
    private interface Decided {
        List<Write> by(PoolTrust stored);
    }

    private Done attempt(Decided decided) {
        HasMetadata named = trust(PoolTrust.none());
        try {
            Optional<ConfigMap> stored = Optional.ofNullable(client.configMaps()
                    .inNamespace(names.namespace())
                    .withName(names.trust())
                    .get());
            if (stored.filter(map -> !ChildApplier.isOf(names, map)).isPresent()) {
                return new Done(seen, changes, Optional.of(ApiWords.nameTaken(named)));
            }
            Optional<ConfigMap> now = stored;
            for (Write write : decided.by(stored.map(PoolTrust::of).orElseGet(PoolTrust::none))) {
                now = carryOut(write, now);
            }
            return new Done(now.map(this::withTrust).orElse(seen), changes, Optional.empty());
        } catch (KubernetesClientException e) {
            // Another operator has written meanwhile: the next round sees that.
            return new Done(
                    seen,
                    changes,
                    e.getCode() == HttpURLConnection.HTTP_CONFLICT
                            ? Optional.empty()
                            : Optional.of(ApiWords.notChanged(named, e)));
        }
    }

    /** Where the Secret is missing the key went with the operator that was about to write it. */
    private List<Write> first(PoolTrust stored) {
        if (stored.active()) {
            return List.of();
        }
        return !stored.fingerprint().isEmpty() && isThere(stored.fingerprint())
                ? AuthorityWrites.activate(stored)
                : AuthorityWrites.first(stored, authority());
    }

    private List<Write> rotated(PoolTrust stored, AuthorityRotation.Step step) {
        return Optional.of(stored).equals(PoolTrust.among(seen.children(), names))
                ? AuthorityWrites.of(
                        step,
                        stored,
                        made(),
                        now(),
                        () -> isThere(stored.next().orElseThrow().fingerprint()),
                        this::authority)
                : List.of();
    }

    /** CAs of which the pool has a ConfigMap. */
    private List<String> made() {
        return seen.children().stream()
                .filter(ConfigMap.class::isInstance)
                .flatMap(child -> names.authorityOf(child.getMetadata().getName()).stream())
                .toList();
    }

    /** The right to create is enough to ask. */
    private boolean isThere(String fingerprint) {
        try {
            client.resource(AuthoritySecret.probe(names, fingerprint)).dryRun().create();
            return false;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
                return true;
            }
            throw e;
        }
    }

    private CertificateAuthority authority() {
        return CertificateAuthority.create(UUID.fromString(seen.poolId()), now(), life);
    }

    private Instant now() {
        return seen.now().truncatedTo(ChronoUnit.SECONDS);
    }

    /** What POOL-trust is afterwards. */
    private Optional<ConfigMap> carryOut(Write write, Optional<ConfigMap> stored) {
        switch (write) {
            case Write.Trust(PoolTrust trust) -> {
                return Optional.of(apply(trust, stored));
            }
            case Write.Owner(CertificateAuthority authority) ->
                owner = Optional.of(apply(AuthorityConfigMap.of(names, stored.orElseThrow(), authority.certificate())));
            case Write.Key(CertificateAuthority authority) -> create(authority);
            case Write.Forget(String fingerprint) -> forget(fingerprint);
        }
        return stored;
    }

    /** Refused when another one has written since. */
    private ConfigMap apply(PoolTrust trust, Optional<ConfigMap> stored) {
        ConfigMap map = trust(trust);
        stored.ifPresent(known ->
                map.getMetadata().setResourceVersion(known.getMetadata().getResourceVersion()));
        return apply(map);
    }

    private ConfigMap apply(ConfigMap map) {
        ConfigMap written = client.resource(map)
                .fieldManager(PoolLabels.OPERATOR)
                .forceConflicts()
                .serverSideApply();
        changes.add(ObjectTitle.of(map));
        return written;
    }

    private void create(CertificateAuthority authority) {
        String fingerprint = CertificateAuthority.fingerprint(authority.certificate());
        Secret secret = AuthoritySecret.of(
                names,
                owner.orElseThrow(),
                fingerprint,
                Pem.encode(authority.certificate()),
                Pem.encodeKey(authority.key()));
        client.resource(secret).create();
        changes.add(ObjectTitle.of(secret));
    }

    private void forget(String fingerprint) {
        ConfigMap owner = client.configMaps()
                .inNamespace(names.namespace())
                .withName(names.authority(fingerprint))
                .get();
        if (owner != null && ChildApplier.isOf(names, owner) && ExactDeletion.delete(client, owner)) {
            changes.add(ObjectTitle.of(owner));
        }
    }

    private ConfigMap trust(PoolTrust trust) {
        return TrustConfigMap.of(seen.identity().metadata(names.trust(), PoolLabels.ofPool(names.pool())), trust);
    }

    private PoolObservation withTrust(ConfigMap map) {
        List<HasMetadata> children = new ArrayList<>(seen.children());
        children.removeIf(child ->
                child instanceof ConfigMap && child.getMetadata().getName().equals(names.trust()));
        children.add(map);
        return seen.with(children);
    }
}
