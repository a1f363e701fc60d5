/** Texts that stand for an absent value (docs/interface.md, Events). Compared exactly. */
export const placeholderValues: readonly string[] =
  'undefined,null,unknown,inconnu,0,-1,NaN,ko,true,false,Infinity,-Infinity,{},[]'.split(',')

/** Whether a text is one of the documented placeholders. */
export function isPlaceholder(text: string): boolean {
  return placeholderValues.includes(text)
}
