// SPDX-License-Identifier: Apache-2.0
/** What Ascend NPUs ask of every process that opens them: environment, ports, files of the host. It knows no pod. Pure. */
package dev.kvpool.operator.pool.ascend;
