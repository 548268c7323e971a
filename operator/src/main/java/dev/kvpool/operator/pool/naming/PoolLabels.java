// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

import java.util.LinkedHashMap;
import java.util.Map;

/** Labels and annotations of a pool's objects. */
public final class PoolLabels {
    public static final String MANAGED_BY = "app.kubernetes.io/managed-by";
    public static final String OPERATOR = "kvpool-operator";
    public static final String POOL = "kvpool.dev/pool";
    public static final String ROLE = "kvpool.dev/role";
    public static final String SET = "kvpool.dev/set";
    public static final String LEADER = "kvpool.dev/leader";
    public static final String ROLE_MASTER = "master";
    public static final String ROLE_STORAGE = "storage";
    public static final String ROLE_AGENT = "agent";
    public static final String ROLE_PREFLIGHT = "preflight";
    public static final String ROLE_CLEANING = "cleaning";
    public static final String ROLE_PULL = "pull";

    /** Of the ConfigMap in which directories of nodes are written down. */
    public static final String ROLE_DIRECTORIES = "directories";

    /** Label of storage pods that shall serve ucx. A node that cannot says 0 like one that shall not, so an alert needs it. */
    public static final String UCX = "kvpool.dev/ucx";

    /** The same for ascend. */
    public static final String ASCEND = "kvpool.dev/ascend";

    public static final String WANTED = "wanted";

    /** Label of storage pods that may be evicted, as nothing is lost with them, or as their time is over. */
    public static final String EVICTABLE = "kvpool.dev/evictable";

    /** Annotation of every child: the pool's identity, which outlives the custom resource under Retain. */
    public static final String POOL_ID = "kvpool.dev/pool-id";

    /** Annotation of pods and their templates: digest of the settings a pod was made with, its image left out. */
    public static final String SETTINGS = "kvpool.dev/settings";

    /** Annotation of pods and their templates: digest of what the user asked for when the pod was made. */
    public static final String ASKED = "kvpool.dev/asked";

    /**
     * Annotation of a pool: pods that were made before this time are made again in their turn, as after changed settings. With a dash
     * and a role behind it, those of that role. Annotation of pods and their templates: the time that holds for them.
     */
    public static final String RESTART = "kvpool.dev/restart";

    /** Annotation of pods and their templates: the mode of --tls that they run with; absent where that is off. */
    public static final String TLS = "kvpool.dev/tls";

    /** Annotation of masters and their template: fingerprint of the certificate authority whose key they mount; absent where they have none. */
    public static final String AUTHORITY = "kvpool.dev/ca";

    /** Annotation of masters and their template: {@link #OF_DIRECTORY} where others make the certificates; absent elsewhere. */
    public static final String CERTIFICATES = "kvpool.dev/certificates";

    public static final String OF_DIRECTORY = "directory";

    /** Annotation of masters and their template: the trust domain of certificates that name ServiceAccounts; absent where none do. */
    public static final String TRUST_DOMAIN = "kvpool.dev/trust-domain";

    /** Annotation of a pool: a certificate authority that was made before this time is followed by another one now. */
    public static final String ROTATE_CA = "kvpool.dev/rotate-ca";

    /** Annotation of a pool: any other text than before has an upgrade tried again that failed or was refused. */
    public static final String RETRY = "kvpool.dev/retry";

    /**
     * Annotation of a pool: storage nodes that are to be empty, as NODE=UID with the UID of the pod each runs in now, with commas between
     * them. A later pod takes part again, so that a request that was forgotten does nothing.
     */
    public static final String DRAIN = "kvpool.dev/drain";

    /** Annotation of a pool: epoch of the leadership that is to be handed over. One that has ended is not, so that it happens once. */
    public static final String FAILOVER = "kvpool.dev/failover";

    /** Annotation of pods and their templates: the image that was asked for, whatever admission made of it. */
    public static final String IMAGE = "kvpool.dev/image";

    /** Annotation of masters, changed with the pool's ConfigMap: kubelets then bring the files up to date at once, and else within two minutes. */
    public static final String FILES = "kvpool.dev/files";

    /** Annotation of storage StatefulSets and DaemonSets on the network of nodes: the first of their two ports. */
    public static final String FIRST_PORT = "kvpool.dev/first-port";

    /** The same, where their storage nodes open NPUs: the first of the ports that NPUs have there. */
    public static final String FIRST_DEVICE_PORT = "kvpool.dev/first-device-port";

    /** Label of a namespace: which pods Kubernetes admits to it. */
    public static final String POD_SECURITY = "pod-security.kubernetes.io/enforce";

    /** Selects all children of all pools. */
    public static final String ALL_CHILDREN = MANAGED_BY + "=" + OPERATOR + "," + POOL;

    /** Selects the lists of directories of all pools, also of those that are gone. */
    public static final String DIRECTORY_LISTS = MANAGED_BY + "=" + OPERATOR + "," + ROLE + "=" + ROLE_DIRECTORIES;

    private PoolLabels() {}

    /** Annotation of a pool that asks for a restart of the pods of one role. */
    public static String restart(String role) {
        return RESTART + "-" + role;
    }

    /** Labels of an object that belongs to the pool as a whole. */
    public static Map<String, String> ofPool(String pool) {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put("app.kubernetes.io/name", "kvpool");
        labels.put("app.kubernetes.io/instance", pool);
        labels.put("app.kubernetes.io/part-of", "kvpool");
        labels.put(MANAGED_BY, OPERATOR);
        labels.put(POOL, pool);
        return labels;
    }

    /** Labels of an object of one role. */
    public static Map<String, String> ofRole(String pool, String role) {
        Map<String, String> labels = ofPool(pool);
        labels.put("app.kubernetes.io/component", role);
        labels.put(ROLE, role);
        return labels;
    }

    /** Labels of an object of one storage set. */
    public static Map<String, String> ofSet(String pool, String set) {
        Map<String, String> labels = ofRole(pool, ROLE_STORAGE);
        labels.put(SET, set);
        return labels;
    }

    /** Selects the pods of a storage set. */
    public static Map<String, String> selectSet(String pool, String set) {
        Map<String, String> labels = selectRole(pool, ROLE_STORAGE);
        labels.put(SET, set);
        return labels;
    }

    /** Selects the pods of a role. A selector can never change, so it holds nothing that might. */
    public static Map<String, String> selectRole(String pool, String role) {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put(POOL, pool);
        labels.put(ROLE, role);
        return labels;
    }
}
