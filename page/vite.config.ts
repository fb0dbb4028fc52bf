import { defineConfig } from "vitest/config";

/**
 * The page is committed as built, so that Rust alone builds the program. Names are
 * fixed and nothing depends on the day or the machine: the same sources give the
 * same bytes.
 */
export default defineConfig({
  base: "/assets/",
  test: { testTimeout: 120_000, css: true },
  build: {
    outDir: "../crates/web/assets",
    emptyOutDir: true,
    target: ["chrome123", "firefox121", "safari17.5"],
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 800,
    license: { fileName: "licenses.md" },
    rolldownOptions: {
      output: {
        entryFileNames: "app.js",
        chunkFileNames: "[name].js",
        assetFileNames: "app[extname]",
      },
    },
  },
});
