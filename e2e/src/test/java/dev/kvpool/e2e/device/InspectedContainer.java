// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.device;

import java.util.List;
import java.util.Map;

/**
 * What the first process of a container has.
 *
 * @param devices device files beside those of every container
 */
public record InspectedContainer(Map<String, String> environment, List<DeviceFile> devices, List<Mount> mounts) {

    /** A character device in the container. */
    public record DeviceFile(String path, int major, int minor) {}

    /** A mount in the container. */
    public record Mount(String path, boolean readOnly) {}

    /** Paths of its devices. */
    public List<String> devicePaths() {
        return devices.stream().map(DeviceFile::path).toList();
    }
}
