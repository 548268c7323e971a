// SPDX-License-Identifier: Apache-2.0
/** The CA of a pool, the certificates it signs, and both as text. Knows no file and no connection. */
package dev.kvpool.identity.certificate;
