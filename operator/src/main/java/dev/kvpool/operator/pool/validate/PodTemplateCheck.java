// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import io.fabric8.kubernetes.api.model.AppArmorProfile;
import io.fabric8.kubernetes.api.model.Capabilities;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.SELinuxOptions;
import io.fabric8.kubernetes.api.model.SeccompProfile;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.WindowsSecurityContextOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What of a podTemplate a pod security level refuses: as the Pod Security Standards say, for the fields that a podTemplate has. Pure.
 *
 * @param fields paths of the refused fields within the podTemplate
 */
record PodTemplateCheck(List<String> fields) {
    private static final String BASELINE = "baseline";
    private static final String UNCONFINED = "Unconfined";

    private static final Set<String> CAPABILITIES = Set.of(
            "AUDIT_WRITE",
            "CHOWN",
            "DAC_OVERRIDE",
            "FOWNER",
            "FSETID",
            "KILL",
            "MKNOD",
            "NET_BIND_SERVICE",
            "SETFCAP",
            "SETGID",
            "SETPCAP",
            "SETUID",
            "SYS_CHROOT");

    private static final Set<String> SELINUX_TYPES =
            Set.of("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t");

    private static final Set<String> SYSCTLS = Set.of(
            "kernel.shm_rmid_forced",
            "net.ipv4.ip_local_port_range",
            "net.ipv4.ip_unprivileged_port_start",
            "net.ipv4.tcp_syncookies",
            "net.ipv4.ping_group_range",
            "net.ipv4.ip_local_reserved_ports",
            "net.ipv4.tcp_keepalive_time",
            "net.ipv4.tcp_fin_timeout",
            "net.ipv4.tcp_keepalive_intvl",
            "net.ipv4.tcp_keepalive_probes");

    /** Whether it asks for anything that some level might refuse, so that the namespace's has to be known. */
    static boolean isNeeded(PodTemplate wish) {
        return wish.securityContext() != null
                || wish.containerSecurityContext() != null
                || wish.volumes().stream().anyMatch(volume -> volume.hostPath() != null);
    }

    /**
     * Looks.
     *
     * @param level of the namespace, other than privileged
     */
    static PodTemplateCheck of(PodTemplate wish, String level) {
        List<String> fields = new ArrayList<>();
        wish.volumes().stream()
                .filter(volume -> volume.hostPath() != null)
                .forEach(volume -> fields.add("volumes[%s].hostPath".formatted(volume.name())));
        boolean restricted = !level.equals(BASELINE);
        Optional.ofNullable(wish.securityContext()).ifPresent(context -> pod(context, restricted, fields));
        Optional.ofNullable(wish.containerSecurityContext())
                .ifPresent(context -> container(context, restricted, fields));
        return new PodTemplateCheck(fields);
    }

    private static void pod(PodSecurityContext context, boolean restricted, List<String> fields) {
        String path = "securityContext.";
        processes(
                path,
                context.getSeccompProfile(),
                context.getAppArmorProfile(),
                context.getSeLinuxOptions(),
                context.getWindowsOptions(),
                fields);
        if (context.getSysctls().stream().anyMatch(sysctl -> !SYSCTLS.contains(sysctl.getName()))) {
            fields.add(path + "sysctls");
        }
        if (restricted) {
            user(path, context.getRunAsNonRoot(), context.getRunAsUser(), fields);
        }
    }

    private static void container(SecurityContext context, boolean restricted, List<String> fields) {
        String path = "containerSecurityContext.";
        processes(
                path,
                context.getSeccompProfile(),
                context.getAppArmorProfile(),
                context.getSeLinuxOptions(),
                context.getWindowsOptions(),
                fields);
        if (Boolean.TRUE.equals(context.getPrivileged())) {
            fields.add(path + "privileged");
        }
        if (context.getProcMount() != null && !context.getProcMount().equals("Default")) {
            fields.add(path + "procMount");
        }
        Optional.ofNullable(context.getCapabilities())
                .ifPresent(capabilities -> capabilities(path, capabilities, restricted, fields));
        if (restricted) {
            user(path, context.getRunAsNonRoot(), context.getRunAsUser(), fields);
            if (Boolean.TRUE.equals(context.getAllowPrivilegeEscalation())) {
                fields.add(path + "allowPrivilegeEscalation");
            }
        }
    }

    private static void processes(
            String path,
            SeccompProfile seccomp,
            AppArmorProfile appArmor,
            SELinuxOptions selinux,
            WindowsSecurityContextOptions windows,
            List<String> fields) {
        if (seccomp != null && UNCONFINED.equals(seccomp.getType())) {
            fields.add(path + "seccompProfile");
        }
        if (appArmor != null && UNCONFINED.equals(appArmor.getType())) {
            fields.add(path + "appArmorProfile");
        }
        if (selinux != null
                && (!SELINUX_TYPES.contains(text(selinux.getType()))
                        || !text(selinux.getUser()).isEmpty()
                        || !text(selinux.getRole()).isEmpty())) {
            fields.add(path + "seLinuxOptions");
        }
        if (windows != null && Boolean.TRUE.equals(windows.getHostProcess())) {
            fields.add(path + "windowsOptions");
        }
    }

    private static void capabilities(String path, Capabilities capabilities, boolean restricted, List<String> fields) {
        Set<String> allowed = restricted ? Set.of("NET_BIND_SERVICE") : CAPABILITIES;
        if (!allowed.containsAll(capabilities.getAdd())) {
            fields.add(path + "capabilities.add");
        }
        boolean keeps =
                !capabilities.getDrop().isEmpty() && !capabilities.getDrop().contains("ALL");
        if (restricted && keeps) {
            fields.add(path + "capabilities.drop");
        }
    }

    private static void user(String path, Boolean nonRoot, Long user, List<String> fields) {
        if (Boolean.FALSE.equals(nonRoot)) {
            fields.add(path + "runAsNonRoot");
        }
        if (user != null && user == 0) {
            fields.add(path + "runAsUser");
        }
    }

    private static String text(String value) {
        return Objects.requireNonNullElse(value, "");
    }
}
