// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a run is told, by system properties; {@code e2e/run} passes what this machine needs.
 *
 * @param repository root of the source tree; the chart, the manifests and the samples are read from there
 * @param diagnostics folder for what is written down when a scenario fails
 * @param kubeconfig {@code -Dkvpool.kubeconfig}: use this cluster, which has the images already, instead of a new one
 * @param clusterImage {@code -Dkvpool.cluster.image}: what the new cluster runs; K3s when not given
 * @param privileged {@code -Dkvpool.cluster.privileged}: false on machines whose container engine refuses privileged
 *     containers; the new cluster then runs with all rights that the machine can give
 * @param tools {@code -Dkvpool.tools}: folder with kubectl and helm; when not given they are looked for on the PATH
 * @param prometheus {@code -Dkvpool.prometheus}: the program; when not given it is looked for on the PATH
 * @param cann {@code -Dkvpool.cann}: folder with libraries that stand for CANN and what they need of C++'s; without it scenarios with
 *     NPUs cannot run
 * @param images what is loaded into a new cluster; {@code e2e/images/build} makes them
 */
public record Settings(
        Path repository,
        Path diagnostics,
        Optional<Path> kubeconfig,
        String clusterImage,
        boolean privileged,
        Optional<Path> tools,
        Path prometheus,
        Optional<Path> cann,
        List<String> images) {

    /** What masters and storage nodes run unless a pool asks for another version. */
    public static final String POOL_IMAGE = "kvpool:0.1.0";

    private static final String K3S = "rancher/k3s:v1.33.5-k3s1";

    /** Reads them. @throws IllegalArgumentException when one names a file or folder that is not there */
    public static Settings read() {
        return new Settings(
                existing(
                        "kvpool.repository",
                        Path.of(property("kvpool.repository").orElse(".."))),
                Path.of(property("kvpool.diagnostics").orElse("target/diagnostics")),
                property("kvpool.kubeconfig").map(file -> existing("kvpool.kubeconfig", Path.of(file))),
                property("kvpool.cluster.image").orElse(K3S),
                property("kvpool.cluster.privileged").map(Boolean::parseBoolean).orElse(true),
                property("kvpool.tools").map(folder -> existing("kvpool.tools", Path.of(folder))),
                property("kvpool.prometheus")
                        .map(program -> existing("kvpool.prometheus", Path.of(program)))
                        .orElse(Path.of("prometheus")),
                property("kvpool.cann").map(folder -> existing("kvpool.cann", Path.of(folder))),
                List.of(
                        POOL_IMAGE,
                        "kvpool-operator:0.1.0",
                        "kvpool-client:0.1.0",
                        "kvpool-mooncake:0.1.0",
                        "kvpool-fake-device-plugin:0.1.0",
                        "kvpool:0.2.0",
                        "kvpool:0.3.0",
                        "kvpool:0.4.0",
                        "kvpool:0.5.0",
                        "kvpool-client:0.2.0"));
    }

    /** The command to run for a tool: from the folder of tools, else its bare name. */
    public String tool(String name) {
        return tools.map(folder -> folder.resolve(name).toString()).orElse(name);
    }

    private static Optional<String> property(String name) {
        return Optional.ofNullable(System.getProperty(name)).filter(value -> !value.isBlank());
    }

    private static Path existing(String property, Path path) {
        if (!Files.exists(path)) {
            throw new IllegalArgumentException("-D" + property + " names " + path + ", which does not exist");
        }
        return path.toAbsolutePath().normalize();
    }
}
