// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The ConfigMap of a certificate authority that is there, so that pools of tables need not make one. */
public final class ActiveTrust {
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    private ActiveTrust() {}

    /** Of pool "demo". */
    public static ConfigMap configMap() {
        try (InputStream in = ActiveTrust.class.getResourceAsStream("/active-trust.yaml")) {
            return YAML.unmarshal(in, ConfigMap.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** With another annotation or entry. */
    static ConfigMap with(Map<String, String> annotations) {
        ConfigMap map = configMap();
        map.getMetadata().getAnnotations().putAll(annotations);
        return map;
    }

    /** While it is followed by another one. */
    static ConfigMap rotating() {
        ConfigMap map = configMap();
        PoolTrust trust = PoolTrust.of(map);
        CertificateAuthority next =
                CertificateAuthority.create(UUID.fromString(PoolSketch.UID), PoolSketch.NOON, Duration.ofDays(365));
        map.setData(Map.of(PoolTrust.ROOTS, trust.roots() + next.roots()));
        map.getMetadata()
                .getAnnotations()
                .put("kvpool.dev/ca-next", CertificateAuthority.fingerprint(next.certificate()));
        return map;
    }

    /** For a pool that needs one. */
    static List<ConfigMap> of(KvCachePool pool) {
        return pool.getSpec().security().mode().isOn()
                        && pool.getSpec().security().directory().isEmpty()
                ? List.of(configMap())
                : List.of();
    }
}
