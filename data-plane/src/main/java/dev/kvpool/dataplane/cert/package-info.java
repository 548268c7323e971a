// SPDX-License-Identifier: Apache-2.0
/** {@code kvpool cert init} and {@code kvpool cert issue}: a CA in a directory, and the certificates it issues. Also used by {@code kvpool local}. */
package dev.kvpool.dataplane.cert;
