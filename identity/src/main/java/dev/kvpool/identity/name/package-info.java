// SPDX-License-Identifier: Apache-2.0
/** Names of peers: what they look like, and which one a certificate carries. Knows no connection and no CA. */
package dev.kvpool.identity.name;
