// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.time.Instant;
import java.util.Set;

/**
 * What a verified token of Kubernetes says.
 *
 * @param namespace of the ServiceAccount
 * @param serviceAccount its name
 * @param pod name of the pod that the token is bound to; empty when it is bound to none
 * @param node name of the Kubernetes node that the pod runs on; empty when the API server does not say it (before 1.30)
 * @param expires when it ends
 * @param isForPool whether it was asked for with the pool in mind
 * @param authorities the certificate authorities of this pool for which it was asked for: fingerprints, where others make certificates with the
 *     ServiceAccount of masters behind it
 */
public record ServiceAccountToken(
        String namespace,
        String serviceAccount,
        String pod,
        String node,
        Instant expires,
        boolean isForPool,
        Set<String> authorities) {}
