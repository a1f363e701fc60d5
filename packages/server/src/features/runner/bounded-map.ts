/** Puts a value into a map of at most `capacity` entries; the one that was put in first makes room. */
export function putBounded<K, V>(map: Map<K, V>, key: K, value: V, capacity: number): void {
  map.delete(key)
  if (map.size >= capacity) {
    for (const oldest of map.keys()) {
      map.delete(oldest)
      break
    }
  }
  map.set(key, value)
}
