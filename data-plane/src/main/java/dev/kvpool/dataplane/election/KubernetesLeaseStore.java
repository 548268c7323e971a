// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.register.RegisterText;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The Lease as an object of the Kubernetes API. */
public final class KubernetesLeaseStore implements LeaseStore {
    /** Has the register; the operator renders the Lease without it and does not own it, so that it stays. */
    static final String REGISTER = "kvpool.dev/register";

    private final KubernetesClient client;
    private final String namespace;
    private final String name;
    private Lease lastRead;

    /** Uses the configuration of the pod or of the user's kubeconfig; one call takes at most {@code timeoutMs}. */
    public static KubernetesLeaseStore connect(String namespace, String name, int timeoutMs) {
        // Retries would outlive the renew deadline: the elector tries again by itself, with fresh eyes.
        Config config = new ConfigBuilder()
                .withRequestTimeout(timeoutMs)
                .withConnectionTimeout(timeoutMs)
                .withRequestRetryBackoffLimit(0)
                .build();
        return new KubernetesLeaseStore(
                new KubernetesClientBuilder().withConfig(config).build(), namespace, name);
    }

    /** Takes over the client and closes it in the end. */
    public KubernetesLeaseStore(KubernetesClient client, String namespace, String name) {
        this.client = client;
        this.namespace = namespace;
        this.name = name;
    }

    @Override
    public Optional<Stored> read() throws LeaseStoreException {
        try {
            lastRead = client.leases().inNamespace(namespace).withName(name).get();
            return Optional.ofNullable(lastRead).map(this::stored);
        } catch (KubernetesClientException e) {
            throw failure("read", e);
        }
    }

    @Override
    public Optional<Stored> create(LeaseRecord lease) throws LeaseStoreException {
        Lease fresh = new LeaseBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .withAnnotations(annotations(Map.of(), lease))
                .endMetadata()
                .withSpec(spec(lease))
                .build();
        try {
            return Optional.of(stored(
                    client.leases().inNamespace(namespace).resource(fresh).create()));
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
                return Optional.empty();
            }
            throw failure("create", e);
        }
    }

    @Override
    public Optional<Stored> update(LeaseRecord lease, String version) throws LeaseStoreException {
        try {
            boolean readAgain = lastRead == null
                    || !lastRead.getMetadata().getResourceVersion().equals(version);
            if (readAgain && !read().map(Stored::version).equals(Optional.of(version))) {
                return Optional.empty();
            }
            // Everything but the spec and the register stays as it is: the owner and labels are the operator's.
            Lease changed = new LeaseBuilder(lastRead)
                    .editMetadata()
                    .withAnnotations(annotations(lastRead.getMetadata().getAnnotations(), lease))
                    .endMetadata()
                    .withSpec(spec(lease))
                    .build();
            return Optional.of(stored(
                    client.leases().inNamespace(namespace).resource(changed).update()));
        } catch (KubernetesClientException e) {
            boolean faster =
                    e.getCode() == HttpURLConnection.HTTP_CONFLICT || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND;
            if (faster) {
                return Optional.empty();
            }
            throw failure("update", e);
        }
    }

    @Override
    public String place() {
        return "k8s://" + namespace + "/" + name;
    }

    @Override
    public void close() {
        client.close();
    }

    private LeaseSpec spec(LeaseRecord lease) throws LeaseStoreException {
        if (lease.transitions() > Integer.MAX_VALUE) {
            throw new LeaseStoreException("the Lease " + place() + " has counted to its end; make a new pool");
        }
        LeaseSpec spec = new LeaseSpec();
        spec.setHolderIdentity(lease.holder());
        spec.setLeaseDurationSeconds(lease.durationSeconds());
        spec.setAcquireTime(time(lease.acquireTime()));
        spec.setRenewTime(time(lease.renewTime()));
        spec.setLeaseTransitions((int) lease.transitions());
        return spec;
    }

    private static Map<String, String> annotations(Map<String, String> before, LeaseRecord lease) {
        Map<String, String> annotations = new HashMap<>(before == null ? Map.of() : before);
        if (lease.register().isLost()) {
            annotations.remove(REGISTER);
        } else {
            annotations.put(REGISTER, RegisterText.write(lease.register()));
        }
        return annotations;
    }

    /** A Lease that the operator has just made, or a person has touched, may lack any field. */
    private Stored stored(Lease lease) {
        LeaseSpec spec = lease.getSpec() == null ? new LeaseSpec() : lease.getSpec();
        LeaseRecord read = new LeaseRecord(
                Optional.ofNullable(spec.getHolderIdentity()).orElse(""),
                Optional.ofNullable(spec.getLeaseDurationSeconds()).orElse(0),
                instant(spec.getAcquireTime()),
                instant(spec.getRenewTime()),
                Math.max(0, Optional.ofNullable(spec.getLeaseTransitions()).orElse(0)),
                StoredRegister.read(
                        Optional.ofNullable(lease.getMetadata().getAnnotations())
                                .map(annotations -> annotations.get(REGISTER))
                                .orElse(""),
                        place()));
        return new Stored(read, lease.getMetadata().getResourceVersion());
    }

    /** The API server takes microseconds. */
    private static ZonedDateTime time(Instant instant) {
        return instant.truncatedTo(ChronoUnit.MICROS).atZone(ZoneOffset.UTC);
    }

    private static Instant instant(ZonedDateTime time) {
        return time == null ? Instant.EPOCH : time.toInstant();
    }

    private LeaseStoreException failure(String verb, KubernetesClientException e) {
        String hint = switch (e.getCode()) {
            case HttpURLConnection.HTTP_FORBIDDEN, HttpURLConnection.HTTP_UNAUTHORIZED ->
                "; the ServiceAccount of the masters needs get and update on this Lease, which the operator makes";
            default -> "";
        };
        // Without an answer the client's own message only repeats what was asked; what went wrong is at the chain's
        // end.
        String reason = e.getCode() == 0 ? rootCause(e).toString() : e.getMessage();
        return new LeaseStoreException("cannot " + verb + " the Lease " + place() + ": " + reason + hint, e);
    }

    private static Throwable rootCause(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }
}
