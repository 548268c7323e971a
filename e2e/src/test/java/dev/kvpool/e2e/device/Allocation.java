// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.device;

import java.util.List;

/** Devices of a resource that a container holds. */
record Allocation(String namespace, String pod, String container, String resource, List<String> devices) {}
