// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import dev.kvpool.e2e.cluster.Cluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The samples that come with the product, in manifests/samples. */
public final class Samples {

    private static final String DEMO = "pool.yaml";
    public static final String DEMO_POOL = "demo";

    private final Cluster cluster;

    public Samples(Cluster cluster) {
        this.cluster = cluster;
    }

    /** All of them. */
    public List<Path> files() {
        try (var files = Files.list(folder())) {
            return files.filter(file -> file.toString().endsWith(".yaml"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list the samples", e);
        }
    }

    /** Applies the one that `make demo` uses; returns its pool. */
    public Pool applyDemo(String namespace) {
        cluster.kubectl().run("apply", "--namespace", namespace, "-f", demo());
        return new Pool(cluster, namespace, DEMO_POOL);
    }

    /** Deletes what that one made, and waits until the custom resources are gone. */
    public void deleteDemo(String namespace) {
        cluster.kubectl().run("delete", "--namespace", namespace, "-f", demo());
    }

    /** The file of one, by its name without ending. */
    public Path file(String name) {
        return folder().resolve(name + ".yaml");
    }

    private String demo() {
        return folder().resolve(DEMO).toString();
    }

    private Path folder() {
        return cluster.settings().repository().resolve("manifests/samples");
    }
}
