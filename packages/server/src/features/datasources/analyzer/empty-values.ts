const noValue = /^(?:null|\(null\)|\\n|n\/a|#n\/a|nan|nil|[-–—]{1,3})$/i

/** Whether a value says that there is none: nothing, `NULL`, `N/A`, `-`, an empty list or object. */
export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (typeof value === 'string') return isEmptyText(value)
  if (typeof value !== 'object') return typeof value === 'number' && Number.isNaN(value)
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}

export function isEmptyText(text: string): boolean {
  if (text.length > 8) return text.trim() === ''
  const trimmed = text.trim()
  return trimmed === '' || noValue.test(trimmed)
}
