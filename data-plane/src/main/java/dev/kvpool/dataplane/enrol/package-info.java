// SPDX-License-Identifier: Apache-2.0
/**
 * How a process gets its certificate: it shows the token that Kubernetes gives its ServiceAccount, and a master, which has the key of the pool's
 * CA, signs a name for the public key that came with it. Private keys stay where they were made.
 */
package dev.kvpool.dataplane.enrol;
