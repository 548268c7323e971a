// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.engine.AgentsSpec;
import dev.kvpool.api.v1alpha1.engine.IpFamily;
import dev.kvpool.api.v1alpha1.pod.MastersSpec;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.certificate.ProcessIdentity;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A short text that differs when a user asks for other pods, whatever an operator makes of that: it tells a changed spec from another
 * operator, which makes other pods of the same one. Fields with their default values count as absent, so that a later operator, which knows
 * more fields, finds the same text for the same wish.
 */
public final class WishDigest {
    private static final KubernetesSerialization YAML = new KubernetesSerialization();
    private static final Map<?, ?> MASTERS = map(new MastersSpec(null, null, null, null));
    private static final Map<?, ?> ENGINE = with(
            map(TransferEngineSpec.DEFAULTS), "accelerator", map(YAML.convertValue(Map.of(), AcceleratorSpec.class)));
    private static final Map<?, ?> ENGINE_WITH_AGENTS =
            with(ENGINE, "agents", map(YAML.convertValue(Map.of(), AgentsSpec.class)));
    private static final Map<?, ?> SET =
            map(YAML.convertValue(Map.of("name", "a", "capacity", "1"), StorageSetSpec.class));

    /** What concerns numbers of pods, or what the pool's sizing is made from. */
    private static final Set<String> NOT_OF_MASTERS = Set.of("replicas", "expectedObjects");

    /** What concerns where storage nodes are, and how many. */
    private static final Set<String> NOT_OF_STORAGE = Set.of("name", "replicas", "perNode");

    /** What of an engine storage nodes are told; ports only where they are chosen. */
    private static final Set<String> OF_ENGINE =
            Set.of("protocols", "hostNetwork", "timeouts", "memory", "accelerator", "socketDirectory", "rdma");

    /** What of the pool's engine agents are told. */
    private static final Set<String> OF_AGENTS = Set.of("agents", "hostNetwork", "timeouts", "rdma");

    private WishDigest() {}

    /** Of the masters. */
    public static String masters(PoolBlueprint pool) {
        Map<String, Object> asked = pruned(map(pool.spec().masters()), MASTERS);
        asked.keySet().removeAll(NOT_OF_MASTERS);
        // It grows with what the pool holds, which waits for no turn; how much memory an operator gives for so many
        // objects does.
        asked.put("objects", pool.sizing().mastersAreMadeFor());
        security(pool.security().masters(), asked);
        asked.putAll(ProcessIdentity.ofMasters(pool).asked());
        return text(pool, asked, PoolLabels.ROLE_MASTER);
    }

    /** Of a storage set. */
    public static String storage(PoolBlueprint pool, StorageSetSpec set) {
        Map<String, Object> asked = pruned(map(set), SET);
        asked.keySet().removeAll(NOT_OF_STORAGE);
        asked.remove("transferEngine");
        Map<String, Object> engine = pruned(map(pool.engine(set)), ENGINE);
        engine.keySet().retainAll(OF_ENGINE);
        asked.put("engine", engine);
        asked.put("ports", pool.ports(set));
        security(pool.security().members(), asked);
        asked.putAll(ProcessIdentity.ofMembers(pool).asked());
        if (pool.payloadsAreAuthenticated()) {
            asked.put("payloads", pool.spec().security().payloads());
        }
        if (pool.usesTrustedFabric(set)) {
            asked.put("trustedFabric", true);
        }
        return text(pool, asked, PoolLabels.ROLE_STORAGE);
    }

    /** Of the agents. */
    public static String agents(PoolBlueprint pool) {
        Map<String, Object> asked = pruned(map(pool.engine()), ENGINE_WITH_AGENTS);
        asked.keySet().retainAll(OF_AGENTS);
        asked.put("protocols", pool.engines().agentProtocols());
        asked.put("sockets", pool.engines().socketDirectories());
        asked.put("port", pool.agentPort());
        security(pool.security().members(), asked);
        return text(pool, asked, PoolLabels.ROLE_AGENT);
    }

    /** A further step of a change of the mode is as much asked for as the first, so it waits for no turn. */
    private static void security(SecurityMode mode, Map<String, Object> asked) {
        if (mode.isOn()) {
            asked.put("security", mode);
        }
    }

    private static String text(PoolBlueprint pool, Map<String, Object> asked, String role) {
        KvCachePoolSpec spec = pool.spec();
        asked.put("ipv4Only", pool.engine().ipFamilies().equals(List.of(IpFamily.IPV4)));
        asked.put("pullPolicy", spec.imagePullPolicy());
        asked.put("pullSecrets", YAML.convertValue(spec.imagePullSecrets(), List.class));
        asked.put("restart", pool.requests().restart(role));
        return SettingsDigest.of(List.of(asked.toString()));
    }

    private static Map<?, ?> map(Object spec) {
        return YAML.convertValue(spec, Map.class);
    }

    private static Map<?, ?> with(Map<?, ?> values, String name, Map<?, ?> value) {
        Map<Object, Object> more = new HashMap<>(values);
        more.put(name, value);
        return more;
    }

    /** What differs from the defaults, in the order of its names. */
    private static Map<String, Object> pruned(Map<?, ?> values, Map<?, ?> defaults) {
        Map<String, Object> kept = new TreeMap<>();
        values.forEach((name, value) -> {
            Object usual = defaults.get(name);
            if (value instanceof Map<?, ?> inner) {
                Map<String, Object> rest = pruned(inner, usual instanceof Map<?, ?> known ? known : Map.of());
                if (!rest.isEmpty() || (usual == null && !inner.isEmpty())) {
                    kept.put((String) name, rest);
                }
            } else if (value != null && !value.equals(usual)) {
                kept.put((String) name, value);
            }
        });
        return kept;
    }
}
