// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * What an informer keeps of the objects that it hears of: less than all of them, where other informers of this process keep the same
 * objects for readers that need more. Events show the whole object still, and what was kept of the one before.
 *
 * @param <T> their kind
 */
public final class ShortItems<T extends HasMetadata> implements ItemStore<T> {
    private final Map<String, T> kept = new ConcurrentHashMap<>();
    private final UnaryOperator<T> shortened;

    /**
     * Makes an empty store.
     *
     * @param shortened makes what is kept of an object besides its name, namespace, UID and version, and leaves the object as it is
     */
    public ShortItems(UnaryOperator<T> shortened) {
        this.shortened = shortened;
    }

    @Override
    public String getKey(T item) {
        return Cache.metaNamespaceKeyFunc(item);
    }

    @Override
    public T put(String key, T item) {
        T shorter = shortened.apply(item);
        shorter.setMetadata(identity(item.getMetadata()));
        return kept.put(key, shorter);
    }

    @Override
    public T remove(String key) {
        return kept.remove(key);
    }

    @Override
    public Stream<String> keySet() {
        return kept.keySet().stream();
    }

    @Override
    public Stream<T> values() {
        return kept.values().stream();
    }

    @Override
    public int size() {
        return kept.size();
    }

    @Override
    public T get(String key) {
        return kept.get(key);
    }

    private static ObjectMeta identity(ObjectMeta whole) {
        return new ObjectMetaBuilder()
                .withNamespace(whole.getNamespace())
                .withName(whole.getName())
                .withUid(whole.getUid())
                .withResourceVersion(whole.getResourceVersion())
                .build();
    }
}
