// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kvpool.api.v1alpha1.KvCachePool;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What of a set with claims Kubernetes cannot change is refused with a remedy, before the operator would try. */
class StorageVolumesTest {
    private static final String NAMESPACE = "storage-volumes";
    private static final String POOL = """
            apiVersion: kvpool.dev/v1alpha1
            kind: KvCachePool
            metadata: {name: demo, namespace: storage-volumes}
            spec:
              storage:
                - {name: host, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /dev/shm/kvpool}}
                - name: both
                  capacity: 1Gi
                  perNode: {}
                  volume: {type: hostPath, path: /dev/shm/kvpool}
                  ssd: {capacity: 1Gi, path: /mnt/nvme0}
                - name: same
                  capacity: 1Gi
                  perNode: {}
                  volume: {type: hostPath, path: /mnt/disks/11111111-2222-3333-4444-555555555555/kvpool}
                  ssd: {capacity: 1Gi, path: /mnt/disks/11111111-2222-3333-4444-555555555555/kvpool}
                - {name: memory, capacity: 1Gi}
                - {name: ssd, capacity: 1Gi, volume: {type: persistentVolumeClaim}, ssd: {capacity: 1Gi}}
                - {name: disk, capacity: 1Gi, volume: {type: persistentVolumeClaim, storageClassName: a}}
            """;

    private static KubernetesClient client;

    @BeforeAll
    static void makePool() {
        client = ApiServer.shared().client();
        ApiServer.shared().createNamespace(NAMESPACE);
        client.resource(POOL).create();
    }

    @AfterAll
    static void disconnect() {
        client.close();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "name: disk, capacity: 1Gi | the volume of a set cannot be changed: add a set with the other volume",
                "name: disk, capacity: 1Gi, volume: {type: persistentVolumeClaim} | the volume of a set cannot be changed",
                "name: disk, capacity: 1Gi, volume: {type: persistentVolumeClaim, storageClassName: b} | the volume of a set",
                "name: disk, capacity: 2Gi, volume: {type: persistentVolumeClaim, storageClassName: a} | the capacity of a set whose volume outlives its pods cannot be changed",
                "name: host, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /dev/shm/other} | the volume of a set cannot be changed",
                "name: host, capacity: 2Gi, perNode: {}, volume: {type: hostPath, path: /dev/shm/kvpool} | the capacity of a set whose volume outlives its pods",
                "name: host, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /dev/shm/kvpool}, ssd: {capacity: 1Gi, path: /mnt/nvme0} | the ssd of a set whose volume outlives its pods",
                "name: both, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /dev/shm/kvpool}, ssd: {capacity: 1Gi, path: /mnt/nvme1} | the ssd of a set whose volume outlives its pods",
                "name: both, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /dev/shm/kvpool}, ssd: {capacity: 2Gi, path: /mnt/nvme0} | the ssd of a set whose volume outlives its pods",
                "name: both, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /dev/shm/kvpool} | the ssd of a set whose volume outlives its pods",
                "name: memory, capacity: 1Gi, volume: {type: persistentVolumeClaim} | the volume of a set cannot be changed",
                "name: disk, capacity: 1Gi, volume: {type: persistentVolumeClaim, storageClassName: a}, ssd: {capacity: 1Gi} | the ssd of a set whose volume outlives its pods cannot be changed",
                "name: ssd, capacity: 1Gi, volume: {type: persistentVolumeClaim}, ssd: {capacity: 2Gi} | the ssd of a set whose volume outlives its pods cannot be changed",
                "name: ssd, capacity: 1Gi, volume: {type: persistentVolumeClaim}, ssd: {capacity: 1Gi, volumeMode: Block} | the ssd of a set whose volume outlives its pods cannot be changed",
                "name: ssd, capacity: 1Gi, volume: {type: persistentVolumeClaim}, ssd: {capacity: 1Gi, encryption: {keySecret: key}} | the ssd of a set whose volume outlives its pods cannot be changed",
                "name: ssd, capacity: 1Gi, volume: {type: persistentVolumeClaim} | the ssd of a set whose volume outlives its pods cannot be changed",
            })
    void aSetKeepsItsVolume(String set, String sentence) {
        var refusal = catchThrowableOfType(KubernetesClientException.class, () -> patch(set));

        assertThat(refusal).isNotNull();
        assertThat(refusal.getMessage()).contains(sentence);
    }

    @Test
    void anotherSetMayHaveAnotherVolumeAndTheFirstMayGo() {
        patch("name: more, capacity: 2Gi, volume: {type: persistentVolumeClaim, storageClassName: b}");
        patch("name: memory, capacity: 2Gi");
        patch("name: memory, capacity: 1Gi, ssd: {capacity: 1Gi}");
        patch("name: memory, capacity: 1Gi, ssd: {capacity: 1Gi, encryption: {keySecret: key}}");
    }

    /** As the API server would take it: nothing is stored. */
    private static void patch(String set) {
        patchSpec("{\"spec\": {\"storage\": [{%s}]}}".formatted(quoted(set)));
    }

    private static void patchSpec(String json) {
        client.resources(KvCachePool.class)
                .inNamespace(NAMESPACE)
                .withName("demo")
                .dryRun(true)
                .patch(PatchContext.of(PatchType.JSON_MERGE), json);
    }

    /** JSON of the flow style that the tables are easier to read in. */
    private static String quoted(String flow) {
        return flow.replaceAll("([A-Za-z0-9]+)(?=: )", "\"$1\"").replaceAll(": ([A-Za-z0-9/]+)", ": \"$1\"");
    }
}
