import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  // Relative, so that a proxy may put the page below any path.
  base: "./",
  plugins: [react()],
  build: {
    outDir: here("../dist/web"),
    emptyOutDir: true,
    target: "es2024",
    // Small files inside of others would be data: addresses, which the page's policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
