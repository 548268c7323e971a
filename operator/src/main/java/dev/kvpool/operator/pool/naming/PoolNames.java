// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * Names and fixed ports of a pool's objects.
 *
 * @param pool name of the pool
 * @param namespace its namespace
 */
public record PoolNames(String pool, String namespace) {
    /** Names of ports, which masters and storage nodes share as far as both have them. */
    public static final String RPC = "rpc";

    public static final String DATA = "data";
    public static final String ADMIN = "admin";
    public static final String ADMIN_TLS = "admin-tls";
    private static final int SHORT_ID = 8;
    public static final int MASTER_PORT = 50051;
    public static final int MASTER_ADMIN_PORT = 9003;
    public static final int NODE_ADMIN_PORT = 9301;
    public static final int AGENT_ADMIN_PORT = 9401;

    /** Of the admin endpoint with TLS, which all processes of a secure pool have. */
    public static final int SECURE_ADMIN_PORT = 9443;

    /** What agents go by beside storage sets, none of which may have this name. */
    public static final String AGENT = "agent";

    public String masters() {
        return pool + "-master";
    }

    public String lease() {
        return masters();
    }

    public String leaderService() {
        return pool + "-leader";
    }

    /** Of what all storage nodes share: their disruption budget, their network policy. */
    public String storage() {
        return pool + "-storage";
    }

    public String agents() {
        return pool + "-" + AGENT;
    }

    /** The directory of a node, below that of all pools, in which sockets of this one are. A namespace has no dot. */
    public String socketDirectory(String below) {
        return below + "/" + namespace + "." + pool;
    }

    public String storageService() {
        return storage();
    }

    public String poolConfigMap() {
        return pool + "-pool";
    }

    public String clientConfigMap() {
        return pool + "-client";
    }

    /** Told apart by the pool's identity, since the list of a pool that is gone may still be there. */
    public String directories(String poolId) {
        return pool + "-directories-" + poolId.substring(0, Math.min(SHORT_ID, poolId.length()));
    }

    /** A Job that removes a directory of a node, told apart from others by a short text. */
    public String cleaning(String which) {
        return pool + "-clean-" + which;
    }

    /** A Secret by which the pool can be bound, told apart from others by what is in it. */
    public String binding(String which) {
        return pool + "-binding-" + which;
    }

    /** A Job that brings an image to a Kubernetes node, whose name may be too long to be in that of a Job. */
    public String pull(String node) {
        String which =
                UUID.nameUUIDFromBytes(node.getBytes(StandardCharsets.UTF_8)).toString();
        return pool + "-pull-" + which.substring(0, 8);
    }

    /** By what engines get certificates. */
    public String identity() {
        return pool + "-identity";
    }

    /** What the pool's processes trust. */
    public String trust() {
        return pool + "-trust";
    }

    /** The Secret with the key of a certificate authority, told apart by its fingerprint. */
    public String authority(String fingerprint) {
        return pool + "-ca-" + fingerprint;
    }

    /** The fingerprint in such a name; empty for another one. */
    public Optional<String> authorityOf(String name) {
        return Optional.of(name)
                .filter(it -> it.startsWith(authority("")))
                .map(it -> it.substring(authority("").length()))
                .filter(it -> it.matches("[0-9a-f]{16}"));
    }

    /** ServiceAccount of the pods of a perNode set. */
    public String storageOf(String set) {
        return storage() + "-" + set;
    }

    /** ServiceAccount whose tokens may do everything. */
    public String admins() {
        return pool + "-admin";
    }

    public String preflight() {
        return pool + "-preflight";
    }

    public String storageSet(String set) {
        return pool + "-" + set;
    }

    public String storagePod(String set, int ordinal) {
        return storageSet(set) + "-" + ordinal;
    }

    /** Node ids of the first {@code replicas} storage nodes of a set; a node's id is its pod's name. */
    public List<String> storagePods(StorageSetSpec set, int replicas) {
        return IntStream.range(0, replicas)
                .mapToObj(ordinal -> storagePod(set.name(), ordinal))
                .toList();
    }

    /**
     * Id of the storage node of a perNode set on a Kubernetes node. Names of sets and pods have no dot, so that it
     * is no other node's id.
     */
    public static String perNodeId(String set, String node) {
        return set + "." + node;
    }

    /** HOST:PORT of each master, by names that stay when pods are replaced. */
    public List<String> masterAddresses(int replicas) {
        return IntStream.range(0, replicas)
                .mapToObj(ordinal -> address(masters() + "-" + ordinal, MASTER_PORT))
                .toList();
    }

    /** The same for the admin endpoint of one of them, by the name of its pod. */
    public String masterAdminAddress(String pod) {
        return address(pod, MASTER_ADMIN_PORT);
    }

    /** The same with TLS. */
    public String masterSecureAddress(String pod) {
        return address(pod, SECURE_ADMIN_PORT);
    }

    /** HOST:PORT of each master where certificates are given out. */
    public List<String> enrolmentAddresses(int replicas) {
        return IntStream.range(0, replicas)
                .mapToObj(ordinal -> masterSecureAddress(masters() + "-" + ordinal))
                .toList();
    }

    /** HOST:PORT of an IP address. */
    public static String endpoint(String address, int port) {
        return (address.contains(":") ? "[" + address + "]" : address) + ":" + port;
    }

    private String address(String masterPod, int port) {
        return "%s.%s.%s.svc:%d".formatted(masterPod, masters(), namespace, port);
    }
}
