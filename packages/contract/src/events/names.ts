/** Events with a meaning of their own (docs/interface.md, Events); any other name is that of a custom event. */
export const builtInEvents: ReadonlySet<string> = new Set([
  'identify',
  'page_view',
  'product_page',
  'product_hover',
  'category_view',
  'brand_view',
  'add_cart',
  'purchase',
  'purchase_references',
])
