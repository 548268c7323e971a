// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.ascend;

import dev.kvpool.api.v1alpha1.engine.AcceleratorChip;
import dev.kvpool.api.v1alpha1.engine.AcceleratorLink;
import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.engine.AscendTransferSpec;
import dev.kvpool.operator.duration.ApiDuration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The environment by which CANN and kvpool's Ascend transport are told how to move bytes: the same for storage nodes and engines, whose
 * NPUs would not reach each other otherwise.
 */
public final class AscendEnvironment {
    private static final String CONNECT_TIMEOUT = "ASCEND_CONNECT_TIMEOUT";
    private static final String TRANSFER_TIMEOUT = "ASCEND_TRANSFER_TIMEOUT";
    private static final String ASYNC = "ASCEND_USE_ASYNC_TRANSFER";
    private static final String BUFFER_POOL = "ASCEND_BUFFER_POOL";
    private static final String BASE_PORT = "ASCEND_BASE_PORT";
    private static final String THREADS = "ASCEND_THREAD_POOL_SIZE";
    private static final String TRAFFIC_CLASS = "ASCEND_RDMA_TC";
    private static final String SERVICE_LEVEL = "ASCEND_RDMA_SL";
    private static final String ROCE = "HCCL_INTRA_ROCE_ENABLE";
    private static final String FABRIC = "ASCEND_ENABLE_USE_FABRIC_MEM";
    private static final String NO_BUFFER_POOL = "0:0";
    private static final String YES = "1";

    /** What fields decide: a variable of the podTemplate would get round their rules. */
    private static final Set<String> OF_FIELDS = Set.of(
            CONNECT_TIMEOUT,
            TRANSFER_TIMEOUT,
            ASYNC,
            BUFFER_POOL,
            BASE_PORT,
            THREADS,
            TRAFFIC_CLASS,
            SERVICE_LEVEL,
            ROCE,
            FABRIC);

    private AscendEnvironment() {}

    /** Variables by name, in the order they are set. */
    public static Map<String, String> of(AcceleratorSpec accelerator) {
        AscendTransferSpec transfer = accelerator.transfer();
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put(CONNECT_TIMEOUT, millis(transfer.connectTimeout()));
        environment.put(TRANSFER_TIMEOUT, millis(transfer.transferTimeout()));
        if (transfer.async()) {
            // It counts as soon as it is there, whatever its value.
            environment.put(ASYNC, YES);
        }
        // Said even where there is none: HIXL has one of its own, which neither RoCE nor Fabric goes with.
        environment.put(BUFFER_POOL, transfer.bufferPool() == null ? NO_BUFFER_POOL : transfer.bufferPool());
        environment.put(BASE_PORT, transfer.basePort().toString());
        environment.put(THREADS, transfer.threads().toString());
        number(environment, TRAFFIC_CLASS, transfer.trafficClass());
        number(environment, SERVICE_LEVEL, transfer.serviceLevel());
        if (transfer.link() == AcceleratorLink.ROCE && accelerator.chip() != AcceleratorChip.A5) {
            environment.put(ROCE, YES);
        }
        if (transfer.link() == AcceleratorLink.FABRIC) {
            environment.put(FABRIC, YES);
            environment.put("ACL_OP_INIT_MODE", YES);
        }
        if (accelerator.chip() == AcceleratorChip.A5) {
            environment.put("ASCEND_LOCAL_COMM_RES", "{\"version\":\"1.3\"}");
        }
        return environment;
    }

    /** Whether a field of the transfer engine decides about a variable. */
    public static boolean isOfField(String variable) {
        return OF_FIELDS.contains(variable);
    }

    private static void number(Map<String, String> environment, String name, Integer value) {
        if (value != null) {
            environment.put(name, value.toString());
        }
    }

    private static String millis(String duration) {
        return Long.toString(ApiDuration.of(duration).toMillis());
    }
}
