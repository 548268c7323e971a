// SPDX-License-Identifier: Apache-2.0
/**
 * Who a peer is and what it may do: certificates of a directory, the names in them, the table of rights, TLS contexts. Knows no command and no
 * core; cores see a {@link dev.kvpool.identity.name.Principal}, never a certificate or a TLS engine.
 */
package dev.kvpool.dataplane.secure;
