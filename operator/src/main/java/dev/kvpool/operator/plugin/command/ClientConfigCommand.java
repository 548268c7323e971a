// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.api.v1alpha1.security.ServiceAccountName;
import dev.kvpool.operator.plugin.client.ClientConfigText;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code client-config}: what engines need to get certificates of a secure pool. */
@Command(
        description = {
            "Prints what engines of a namespace need to use a secure pool: two ConfigMaps, which the operator keeps in the pool's own namespace,"
                    + " and as comments what goes into their pods. Nothing in it is secret, and nothing is changed.",
            "For example: kubectl kvpool client-config demo -n inference --engines-namespace team-a | kubectl apply -f -"
        })
public final class ClientConfigCommand extends PoolCommand {
    private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
    private static final Pattern ACCOUNT = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");

    @Parameters(index = "0", paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Option(
            names = "--engines-namespace",
            paramLabel = "NAME",
            description = "Namespace of the engines; that of the pool otherwise.")
    private String enginesNamespace;

    @Option(
            names = "--service-account",
            paramLabel = "NAME",
            defaultValue = "default",
            description =
                    "ServiceAccount of the engines' pods, which a tenant of the pool must have; ${DEFAULT-VALUE} otherwise.")
    private String serviceAccount;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        ServiceAccountName account = new ServiceAccountName(
                checked(enginesNamespace == null ? on.namespace() : enginesNamespace, NAMESPACE, "--engines-namespace"),
                checked(serviceAccount, ACCOUNT, "--service-account"));
        KvCachePool found = on.pool(pool);
        PoolNames names = new PoolNames(pool, on.namespace());
        if (!found.getSpec().security().mode().isOn()) {
            throw new PluginException(
                    "pool %s takes no certificates: its spec.security.mode is Off; engines need nothing but ConfigMap %s"
                            .formatted(pool, names.clientConfigMap()));
        }
        if (found.getSpec().security().directory().isPresent()) {
            throw new PluginException(
                    ("pool %s gives no certificates for tokens: its spec.security.certificates.source is Directory; engines need ConfigMap %s, and"
                                            + " KVPOOL_TLS_DIR with a certificate for spiffe://%s/tenant/TENANT/rw/NAME from where the pool's come from")
                                    .formatted(pool, names.clientConfigMap(), poolId(on, names, found))
                            + others(found, account, names));
        }
        ConfigMap identity = map(on, names.identity())
                .orElseThrow(() -> new PluginException(
                        "pool %s has no certificate authority yet; its condition CertificatesValid says why"
                                .formatted(pool)));
        ConfigMap client = map(on, names.clientConfigMap())
                .orElseThrow(() -> new PluginException(
                        "pool %s has no ConfigMap %s yet; the operator makes it when the pool is valid"
                                .formatted(pool, names.clientConfigMap())));
        out.print(ClientConfigText.of(names, account, found.getSpec().tenants(), client, identity));
        out.flush();
    }

    private static String others(KvCachePool pool, ServiceAccountName account, PoolNames names) {
        return pool.getSpec()
                .security()
                .directory()
                .map(CertificatesSpec::trustDomain)
                .map(domain ->
                        ", or for spiffe://%s/ns/%s/sa/%s and, in the directory that has the same name and .names behind it, the file names of ConfigMap %s"
                                .formatted(domain, account.namespace(), account.name(), names.identity()))
                .orElse("");
    }

    /** A pool that took over retained objects has the id of the one before. */
    private static String poolId(Cluster on, PoolNames names, KvCachePool pool) {
        return map(on, names.clientConfigMap())
                .map(map -> map.getMetadata().getAnnotations())
                .map(notes -> notes.get(PoolLabels.POOL_ID))
                .orElse(pool.getMetadata().getUid());
    }

    private static Optional<ConfigMap> map(Cluster on, String name) {
        return Optional.ofNullable(on.client()
                .configMaps()
                .inNamespace(on.namespace())
                .withName(name)
                .get());
    }

    /** What is printed is read by other programs. */
    private static String checked(String name, Pattern format, String option) {
        if (!format.matcher(name).matches()) {
            throw new PluginException(
                    "%s must be a name of lower case letters, digits and '-', not '%s'".formatted(option, name));
        }
        return name;
    }
}
