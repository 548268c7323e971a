// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.register.RegisterException;
import dev.kvpool.dataplane.register.RegisterText;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the register that lies beside a Lease. */
final class StoredRegister {
    private static final Logger LOG = LoggerFactory.getLogger(StoredRegister.class);

    private StoredRegister() {}

    /**
     * What the text says; {@link Register#NONE} when there is none, or none that can be read: a person has changed it, and a pool goes
     * on without it as it does when its Lease was deleted. Masters that have read it before write it again.
     */
    static Register read(String text, String place) {
        if (text == null || text.isEmpty()) {
            return Register.NONE;
        }
        try {
            return RegisterText.read(text);
        } catch (RegisterException e) {
            LOG.warn("the register of the Lease {} cannot be read, and counts as lost: {}", place, e.getMessage());
            return Register.NONE;
        }
    }
}
