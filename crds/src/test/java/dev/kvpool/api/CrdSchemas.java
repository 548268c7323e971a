// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.crdv2.generator.CRDPostProcessor;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Makes the CRDs from the Java types: file name to YAML. */
final class CrdSchemas {
    private static final String HEADER = """
            # SPDX-License-Identifier: Apache-2.0
            # Generated from the Java types of module crds: mvn -pl crds test -Dcrds.update=true
            """;

    private static final Map<String, Class<? extends HasMetadata>> KINDS =
            Map.of("KvCachePool", KvCachePool.class, "TransferEngine", TransferEngine.class);

    private CrdSchemas() {}

    /**
     * @param scratch a directory for the generator's own output, which lacks the header and is not used
     */
    static Map<String, String> generate(Path scratch) {
        Map<String, String> files = new TreeMap<>();
        KubernetesSerialization yaml = new KubernetesSerialization();
        CRDPostProcessor collect = new CRDPostProcessor() {
            @Override
            public HasMetadata process(HasMetadata crd, String crdSpecVersion) {
                var definition = (CustomResourceDefinition) crd;
                var polished = new SchemaPolish(
                                KINDS.get(definition.getSpec().getNames().getKind()))
                        .apply(definition);
                files.put(crd.getMetadata().getName() + ".yaml", HEADER + yaml.asYaml(polished));
                return polished;
            }
        };
        new CRDGenerator()
                .inOutputDir(scratch.toFile())
                .withPostProcessor(collect)
                .forCRDVersions("v1")
                .customResourceClasses(KINDS.values())
                .generate();
        return files;
    }
}
