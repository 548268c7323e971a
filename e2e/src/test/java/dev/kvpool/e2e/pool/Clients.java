// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Python client in pods of its own, one per call. A pod gets what it has to know from the pool's client ConfigMap, as
 * an engine would. What it put it can check byte for byte in another pod: content follows from the key.
 */
public final class Clients {

    private static final Logger LOG = LoggerFactory.getLogger(Clients.class);
    private static final String IMAGE = "kvpool-client:";
    private static final String VERSION = "0.1.0";
    private static final String WIRE = "wire";

    /** Of each container: namespaces enforce it. */
    private static final SecurityContext CONFINED = new SecurityContextBuilder()
            .withAllowPrivilegeEscalation(false)
            .withNewCapabilities()
            .withDrop("ALL")
            .endCapabilities()
            .build();

    /** Far longer than any scenario: who stays is told to go. */
    private static final Duration STAY = Duration.ofHours(1);

    private static final long NOBODY = 65532L;
    private static final long SOMEBODY = 1000L;

    private final Cluster cluster;
    private final Pool pool;
    private final String image;
    private final Optional<String> sockets;
    private final Supplier<Optional<Identity>> identity;
    private final Optional<String> npus;

    /**
     * Whose certificates they get.
     *
     * @param namespace where their pods are
     * @param account their ServiceAccount
     * @param audience of its tokens
     */
    private record Identity(String namespace, String account, String audience) {}

    /** Where the pool gives certificates, they are of ServiceAccount {@code default} of its namespace. */
    public Clients(Cluster cluster, Pool pool) {
        this(
                cluster,
                pool,
                IMAGE + VERSION,
                Optional.empty(),
                () -> pool.audience().map(audience -> new Identity(pool.namespace(), "default", audience)),
                Optional.empty());
    }

    private Clients(
            Cluster cluster,
            Pool pool,
            String image,
            Optional<String> sockets,
            Supplier<Optional<Identity>> identity,
            Optional<String> npus) {
        this.cluster = cluster;
        this.pool = pool;
        this.image = image;
        this.sockets = sockets;
        this.identity = identity;
        this.npus = npus;
    }

    /** The same with certificates of a tenant, in pods of its namespace, which has the ConfigMaps for it. */
    public Clients ofTenant(String namespace, String account) {
        return of(() -> pool.audience().map(audience -> new Identity(namespace, account, audience)));
    }

    /** The same without certificates. */
    public Clients withoutCertificates() {
        return of(Optional::empty);
    }

    private Clients of(Supplier<Optional<Identity>> other) {
        return new Clients(cluster, pool, image, sockets, other, npus);
    }

    /** The same in pods that each hold an NPU of the resource. */
    public Clients withNpu(String resource) {
        return new Clients(cluster, pool, image, sockets, identity, Optional.of(resource));
    }

    /**
     * Status and text of what an HTTP server answers to a pod of theirs, which shows its token where it has one. A certificate of the
     * server is not looked at.
     */
    public String request(String method, String url) {
        String program = """
                import os, ssl, sys, urllib.error, urllib.request
                request = urllib.request.Request(sys.argv[2], method=sys.argv[1])
                identity = os.environ.get("KVPOOL_IDENTITY_DIR")
                if identity:
                    request.add_header("X-Kvpool-Token", open(identity + "/token").read())
                try:
                    answer = urllib.request.urlopen(request, timeout=10, context=ssl._create_unverified_context())
                    print(answer.status, answer.read(1000).decode())
                except urllib.error.HTTPError as error:
                    print(error.code, error.read(1000).decode())
                """;
        return start(pod("request", List.of("python3", "-c", program, method, url)))
                .awaitSuccess(Limits.CLIENT_POD);
    }

    /**
     * What a program prints that speaks the wire itself, with a certificate that {@code kvpool enrol} has got for it.
     *
     * @param words the program's name among the test's resources, and its arguments
     */
    public String speak(String... words) {
        Identity whose = identity.get().orElseThrow();
        Path repository = cluster.settings().repository();
        cluster.kubectl().attempt("", "delete", "configmap", WIRE, "--namespace", whose.namespace());
        cluster.kubectl()
                .run(
                        "create",
                        "configmap",
                        WIRE,
                        "--namespace=" + whose.namespace(),
                        "--from-file=" + repository.resolve("e2e/src/test/resources/" + words[0]),
                        "--from-file=" + repository.resolve("native/python/tests/wire.py"),
                        "--from-file=" + repository.resolve("native/schema/kvpool.xml"),
                        "--from-file=" + repository.resolve("native/include/kvpool/kvpool.h"));
        String folder = "/wire/python/tests/";
        List<String> command = new ArrayList<>(List.of("python3"));
        command.addAll(List.of(words));
        command.set(1, folder + words[0]);
        Pod pod = new PodBuilder(pod("wire", command))
                .editSpec()
                .addNewInitContainer()
                .withName("enrol")
                .withImage("kvpool:" + VERSION)
                .withArgs(
                        "enrol",
                        "--once",
                        "--admins=" + pool.enrolmentAddresses().orElseThrow(),
                        "--token-file=/etc/kvpool-identity/token",
                        "--roots=/etc/kvpool-identity/ca.crt",
                        "--out=/tls")
                .withSecurityContext(CONFINED)
                .addNewVolumeMount()
                .withName("kvpool-identity")
                .withMountPath("/etc/kvpool-identity")
                .endVolumeMount()
                .addNewVolumeMount()
                .withName("tls")
                .withMountPath("/tls")
                .endVolumeMount()
                .endInitContainer()
                .editFirstContainer()
                .addNewVolumeMount()
                .withName("tls")
                .withMountPath("/tls")
                .endVolumeMount()
                .addNewVolumeMount()
                .withName(WIRE)
                .withMountPath("/wire")
                .endVolumeMount()
                .endContainer()
                .addNewVolume()
                .withName("tls")
                .withNewEmptyDir()
                .endEmptyDir()
                .endVolume()
                .addNewVolume()
                .withName(WIRE)
                .withNewConfigMap()
                .withName(WIRE)
                .addNewItem(words[0], null, "python/tests/" + words[0])
                .addNewItem("wire.py", null, "python/tests/wire.py")
                .addNewItem("kvpool.xml", null, "schema/kvpool.xml")
                .addNewItem("kvpool.h", null, "include/kvpool/kvpool.h")
                .endConfigMap()
                .endVolume()
                .endSpec()
                .build();
        return start(pod).awaitSuccess(Limits.CLIENT_POD).strip();
    }

    private String namespace() {
        return identity.get().map(Identity::namespace).orElse(pool.namespace());
    }

    /** The same with another build of the client. */
    public Clients ofVersion(String version) {
        return new Clients(cluster, pool, IMAGE + version, sockets, identity, npus);
    }

    /**
     * The same through the agent of their node.
     *
     * @param directory where the sockets of all pools are on the node
     */
    public Clients throughAgent(String directory) {
        return new Clients(cluster, pool, image, Optional.of(directory), identity, npus);
    }

    /** Puts objects whose keys begin with the prefix; returns the lines that the client printed. */
    public List<String> put(String prefix, int count) {
        return run("put", "--prefix", prefix, "--count", Integer.toString(count));
    }

    /** Gets the objects and compares their bytes; returns the lines that the client printed. */
    public List<String> get(String prefix, int count) {
        return run("get", "--prefix", prefix, "--count", Integer.toString(count));
    }

    /** The same of objects that may have been evicted: which are not there, and any with other bytes, are lines of their own. */
    public List<String> getSome(String prefix, int count) {
        return attempt("get", prefix, count);
    }

    /** A put or get that may be refused; what the client printed, which ends with what it came to. */
    public List<String> attempt(String verb, String prefix, int count) {
        return start(verb, "--prefix", prefix, "--count", Integer.toString(count))
                .awaitEnd(Limits.CLIENT_POD)
                .lines()
                .toList();
    }

    /**
     * Starts a client that puts small objects and reads some of them, all the time, and returns when it has begun. In the
     * end it reads all whose put was acknowledged.
     *
     * @param longest how long it works when it is not told to end before; then it reads what it put, whatever is under way
     */
    public Load startLoad(String prefix, Duration longest) {
        // So few and small that nothing is evicted on the fastest machine: then whatever is not there was lost.
        return new Load(startWork(prefix, longest, "0.004"), longest);
    }

    /** The same of twenty objects a second: after half an hour all fit on a storage node of 256 MiB. */
    public Load startLightLoad(String prefix, Duration longest) {
        return new Load(startWork(prefix, longest, "0.05"), longest);
    }

    /** Starts a client that uses the pool now and then, and so stays connected until it is told to go. */
    public Guest startGuest(String prefix) {
        return new Guest(startWork(prefix, STAY, "0.5"));
    }

    private PodRun startWork(String prefix, Duration duration, String pauseSeconds) {
        String[] words = {
            "load",
            "--prefix",
            prefix,
            "--seconds",
            Long.toString(duration.toSeconds()),
            "--size",
            "4096",
            "--pause",
            pauseSeconds
        };
        return start(words).awaitStarted(Limits.CLIENT_POD);
    }

    /** A client that stays. */
    public static final class Guest {

        private final PodRun run;

        private Guest(PodRun run) {
            this.run = run;
        }

        /** Ends it at once, as when its machine is lost. */
        public void leave() {
            run.stop();
        }
    }

    /** A client at work. */
    public static final class Load {

        private final PodRun run;
        private final Duration longest;
        private final long begun = System.nanoTime();

        private Load(PodRun run, Duration longest) {
            this.run = run;
            this.longest = longest;
        }

        /**
         * Has it end, since what it worked through is over, and waits for that.
         *
         * @throws AssertionError when an acknowledged object was lost or had other bytes
         */
        public List<String> awaitNothingLost() {
            LOG.info("load of {} s ends after {} s", longest.toSeconds(), (System.nanoTime() - begun) / 1_000_000_000);
            run.tellToEnd();
            return run.awaitSuccess(longest.plus(Limits.CLIENT_POD)).lines().toList();
        }
    }

    private List<String> run(String... words) {
        return start(words).awaitSuccess(Limits.CLIENT_POD).lines().toList();
    }

    private PodRun start(String... words) {
        List<String> command = new ArrayList<>(List.of("kvcheck"));
        command.addAll(List.of(words));
        sockets.ifPresent(directory -> command.add("--agent"));
        return start(pod(words[0], command));
    }

    private PodRun start(Pod plain) {
        Pod known = identity.get().map(whose -> withIdentity(plain, whose)).orElse(plain);
        Pod pod = npus.map(resource -> withNpu(known, resource)).orElse(known);
        return PodRun.start(
                cluster,
                namespace(),
                sockets.map(directory -> withSocket(pod, directory)).orElse(pod));
    }

    /** As `kubectl kvpool client-config` says. */
    private Pod withIdentity(Pod pod, Identity whose) {
        return new PodBuilder(pod)
                .editSpec()
                .withServiceAccountName(whose.account())
                .editFirstContainer()
                .addNewEnv()
                .withName("KVPOOL_IDENTITY_DIR")
                .withValue("/etc/kvpool-identity")
                .endEnv()
                .addNewVolumeMount()
                .withName("kvpool-identity")
                .withMountPath("/etc/kvpool-identity")
                .withReadOnly(true)
                .endVolumeMount()
                .endContainer()
                .addNewVolume()
                .withName("kvpool-identity")
                .withNewProjected()
                .addNewSource()
                .withNewServiceAccountToken(whose.audience(), 3600L, "token")
                .endSource()
                .addNewSource()
                .withNewConfigMap()
                .withName(pool.name() + "-identity")
                .endConfigMap()
                .endSource()
                .endProjected()
                .endVolume()
                .endSpec()
                .build();
    }

    private static Pod withNpu(Pod pod, String resource) {
        return new PodBuilder(pod)
                .editSpec()
                .editFirstContainer()
                .withNewResources()
                .addToLimits(resource, Quantity.parse("1"))
                .endResources()
                .endContainer()
                .endSpec()
                .build();
    }

    /** As an engine's pod is: another user, who joins the agent's group, and the pool's directory at the same place. */
    private Pod withSocket(Pod pod, String directory) {
        String path = "%s/%s.%s".formatted(directory, pool.namespace(), pool.name());
        return new PodBuilder(pod)
                .editSpec()
                .editSecurityContext()
                .withRunAsUser(SOMEBODY)
                .withRunAsGroup(SOMEBODY)
                .withSupplementalGroups(NOBODY)
                .endSecurityContext()
                .editFirstContainer()
                .addNewVolumeMount()
                .withName("kvpool")
                .withMountPath(path)
                .endVolumeMount()
                .endContainer()
                .addNewVolume()
                .withName("kvpool")
                .withNewHostPath()
                .withPath(path)
                .withType("Directory")
                .endHostPath()
                .endVolume()
                .endSpec()
                .build();
    }

    private Pod pod(String what, List<String> command) {
        return new PodBuilder()
                .withNewMetadata()
                .withGenerateName("client-" + what + "-")
                .endMetadata()
                .withNewSpec()
                .withRestartPolicy("Never")
                .withAutomountServiceAccountToken(false)
                .withTerminationGracePeriodSeconds(0L)
                .withNewSecurityContext()
                .withRunAsNonRoot(true)
                .withRunAsUser(NOBODY)
                .withNewSeccompProfile()
                .withType("RuntimeDefault")
                .endSeccompProfile()
                .endSecurityContext()
                .addNewContainer()
                .withName("client")
                .withImage(image)
                .withCommand(command)
                .addNewEnvFrom()
                .withNewConfigMapRef()
                .withName(pool.name() + "-client")
                .endConfigMapRef()
                .endEnvFrom()
                .addNewEnv()
                .withName("POD_IP")
                .withNewValueFrom()
                .withNewFieldRef("v1", "status.podIP")
                .endValueFrom()
                .endEnv()
                .withSecurityContext(CONFINED)
                .endContainer()
                .endSpec()
                .build();
    }
}
