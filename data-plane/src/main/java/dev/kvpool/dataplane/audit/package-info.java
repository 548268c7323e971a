// SPDX-License-Identifier: Apache-2.0
/**
 * The audit log of a master: who changed something over admin HTTP, who got a certificate, and who was refused. It writes neither tokens nor keys
 * and values of objects, and knows nothing of how requests are answered.
 */
package dev.kvpool.dataplane.audit;
