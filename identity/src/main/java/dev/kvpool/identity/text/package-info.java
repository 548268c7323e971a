// SPDX-License-Identifier: Apache-2.0
/** Text of users inside messages. Knows nothing else. */
package dev.kvpool.identity.text;
