// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.time.Instant;

/**
 * What a verified token of Kubernetes says.
 *
 * @param namespace of the ServiceAccount
 * @param serviceAccount its name
 * @param pod name of the pod that the token is bound to; empty when it is bound to none
 * @param node name of the Kubernetes node that the pod runs on; empty when the API server does not say it (before 1.30)
 * @param expires when it ends
 */
public record ServiceAccountToken(String namespace, String serviceAccount, String pod, String node, Instant expires) {}
