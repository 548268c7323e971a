// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.install;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Command;
import dev.kvpool.e2e.cluster.Limits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Helm as people run it: as a program, on the chart of this source tree or a later one. */
public final class Helm {

    private final Cluster cluster;
    private final Path chart;

    public Helm(Cluster cluster) {
        this(cluster, cluster.settings().repository().resolve("helm/kvpool"));
    }

    private Helm(Cluster cluster, Path chart) {
        this.cluster = cluster;
        this.chart = chart;
    }

    /**
     * The same of a later release of the chart, as users get it: an archive.
     *
     * @param version its own and that of the images it names
     * @param folder where the archive goes
     */
    public Helm later(String version, Path folder) {
        run(
                "package",
                chart.toString(),
                "--version",
                version,
                "--app-version",
                version,
                "--destination",
                folder.toString());
        return new Helm(cluster, folder.resolve("kvpool-" + version + ".tgz"));
    }

    /**
     * Installs the chart, or upgrades the release that is there, and waits until its pods are ready.
     *
     * @param values {@code name=value}; the others are the chart's own, whatever the release had
     */
    public void install(String release, String namespace, String... values) {
        List<String> words = new ArrayList<>(List.of(
                "upgrade",
                "--install",
                release,
                chart.toString(),
                "--namespace",
                namespace,
                "--create-namespace",
                // Else helm keeps what the release had when it is given no value at all.
                "--reset-values",
                "--wait",
                "--timeout",
                Limits.OPERATOR_READY.toSeconds() + "s"));
        for (String value : values) {
            words.addAll(List.of("--set", value));
        }
        run(words.toArray(String[]::new));
    }

    /**
     * Renders one template of the chart.
     *
     * @param values {@code name=value}
     */
    public String template(String release, String namespace, String template, String... values) {
        List<String> words = new ArrayList<>(List.of(
                "template",
                release,
                chart.toString(),
                "--namespace",
                namespace,
                // Helm asks no cluster when it only renders.
                "--kube-version",
                cluster.client().getKubernetesVersion().getGitVersion(),
                "--show-only",
                "templates/" + template + ".yaml"));
        for (String value : values) {
            words.addAll(List.of("--set", value));
        }
        return run(words.toArray(String[]::new));
    }

    public void uninstall(String release, String namespace) {
        run("uninstall", release, "--namespace", namespace, "--wait", "--timeout", Limits.GONE.toSeconds() + "s");
    }

    /** What `helm test` prints. @throws IllegalStateException when a test of the chart fails */
    public String test(String release, String namespace) {
        return run("test", release, "--namespace", namespace, "--timeout", Limits.CLIENT_POD.toSeconds() + "s");
    }

    /** What `helm list` prints about a namespace, as JSON. */
    public String list(String namespace) {
        return run("list", "--namespace", namespace, "--output", "json");
    }

    private String run(String... arguments) {
        List<String> words = new ArrayList<>(List.of(cluster.settings().tool("helm")));
        words.addAll(List.of(arguments));
        Map<String, String> environment =
                Map.of("KUBECONFIG", cluster.kubeconfig().toString());
        return new Command(words, environment, "", Limits.HELM).run().orThrow();
    }
}
