// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.certificate.Enrolment;
import dev.kvpool.operator.pool.child.part.ContainerResources;
import dev.kvpool.operator.pool.child.part.PodSecurity;
import dev.kvpool.operator.pool.child.part.PreflightQuestion;
import dev.kvpool.operator.pool.child.part.ScratchVolume;
import dev.kvpool.operator.pool.child.part.TemplatedPod;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Asks, with the image the pool is to be upgraded to, whether it can. The answer is the pod's termination message. */
public final class PreflightJob {
    private static final int TRIES_MORE = 3;
    private static final int KEPT_S = 3600;
    private static final String RESULT = "/dev/termination-log";

    private PreflightJob() {}

    /**
     * Builds the Job.
     *
     * @param question what it asks, and whom
     */
    public static Job of(PoolBlueprint pool, PreflightQuestion question) {
        JobTerms terms = JobTerms.of(pool, pool.names().preflight(), PoolLabels.ROLE_PREFLIGHT, question.image());
        // It asks the masters, so that it can be where they can.
        return TemplatedPod.beside(
                pool.spec().masters().podTemplate(),
                OneTimeJob.of(
                        terms, TRIES_MORE, KEPT_S, pod(pool, question, terms).build()));
    }

    private static PodSpecBuilder pod(PoolBlueprint pool, PreflightQuestion question, JobTerms terms) {
        PodSpecBuilder pod = OneTimeJob.pod(
                terms, pool.platform().givesUser(), container(pool, question, terms), ScratchVolume.volume());
        if (!isSecure(pool)) {
            // What is admitted with the masters' account may not be with another.
            return pod.withServiceAccountName(pool.names().masters());
        }
        pod.withServiceAccountName(pool.names().preflight());
        Enrolment enrolment = new Enrolment(pool);
        return showsToken(pool)
                ? pod.addToVolumes(enrolment.token(pool.names().identity()))
                : enrolment.apply(pod).withInitContainers(enrolling(pool, terms));
    }

    /** With plain masters it can speak as ever. */
    private static boolean isSecure(PoolBlueprint pool) {
        return pool.security().masters() == SecurityMode.REQUIRED;
    }

    /** Where masters give no certificate, the token stands for it. */
    private static boolean showsToken(PoolBlueprint pool) {
        return isSecure(pool) && pool.security().directory().isPresent();
    }

    private static Container enrolling(PoolBlueprint pool, JobTerms terms) {
        return base(terms)
                .withName("certificate")
                .withArgs(new Enrolment(pool).once())
                .withVolumeMounts(ScratchVolume.mount())
                .addAllToVolumeMounts(Enrolment.mounts())
                .build();
    }

    private static Container container(PoolBlueprint pool, PreflightQuestion question, JobTerms terms) {
        return base(terms)
                .withName("preflight")
                .withArgs(arguments(pool, question))
                .withTerminationMessagePath(RESULT)
                .withTerminationMessagePolicy("FallbackToLogsOnError")
                .withVolumeMounts(ScratchVolume.mount())
                .addAllToVolumeMounts(mounts(pool))
                .build();
    }

    private static List<VolumeMount> mounts(PoolBlueprint pool) {
        if (showsToken(pool)) {
            return List.of(Enrolment.tokenMount());
        }
        return isSecure(pool) ? Enrolment.mounts() : List.of();
    }

    private static ContainerBuilder base(JobTerms terms) {
        return new ContainerBuilder()
                .withImage(terms.image())
                .withImagePullPolicy(terms.pullPolicy())
                .withResources(new ContainerResources()
                        .request("cpu", new Quantity("50m"))
                        .request("memory", new Quantity("128Mi"))
                        .limit("memory", new Quantity("512Mi"))
                        .build())
                .withSecurityContext(PodSecurity.container());
    }

    private static List<String> arguments(PoolBlueprint pool, PreflightQuestion question) {
        List<String> arguments = new ArrayList<>(List.of(
                "preflight",
                "--admins="
                        + question.masters().stream()
                                .map(
                                        isSecure(pool)
                                                ? pool.names()::masterSecureAddress
                                                : pool.names()::masterAdminAddress)
                                .collect(Collectors.joining(",")),
                "--result-file=" + RESULT));
        if (pool.spec().upgrade().ignoreClients()) {
            arguments.add("--ignore-clients");
        }
        if (showsToken(pool)) {
            arguments.addAll(Enrolment.ASKING);
        } else if (isSecure(pool)) {
            arguments.add("--tls-dir=" + Enrolment.CERTIFICATE_DIR);
        }
        return arguments;
    }
}
