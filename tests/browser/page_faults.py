"""What a person would find wrong with a page: text that can hardly be read, is cut, or lies on other text."""

from __future__ import annotations

from typing import Any

_FAINT = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const light = (colour) => {
    const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = [...rgba(colour)].map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (rgba(colour)[3] === 255) return colour;
    }
    return "white";
  };
  const wrong = new Set();
  for (const node of document.body.querySelectorAll("*")) {
    const words = [...node.childNodes].filter((each) => each.nodeType === 3 && each.data.trim());
    if (!words.length || !node.getClientRects().length || ["SCRIPT", "TITLE", "title"].includes(node.tagName)) continue;
    const style = getComputedStyle(node), ink = node.ownerSVGElement ? style.fill : style.color;
    const [a, b] = [light(ink), light(behind(node))].sort((x, y) => y - x), contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) wrong.add(`${contrast.toFixed(2)}: ${words[0].data.trim().slice(0, 30)}`);
  }
  return [...wrong];
}"""
"""WCAG 2.2, 1.4.3: text has a contrast of 4.5 with what is behind it."""

_OVER = """() => {
  const wrong = [];
  for (const figure of document.querySelectorAll("figure")) {
    const edge = figure.getBoundingClientRect();
    const texts = [...figure.querySelectorAll("text, figcaption, li")]
      .map((node) => [node.textContent, node.getBoundingClientRect()]);
    for (const [n, [name, box]] of texts.entries()) {
      if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top || box.bottom > edge.bottom + 1)
        wrong.push(`${name} stands over the edge`);
      for (const [other, its] of texts.slice(n + 1)) {
        const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
        const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
        if (across > 1 && down > 3) wrong.push(`${name} lies on ${other}`);
      }
    }
  }
  return wrong;
}"""
"""Boxes of text are as tall as their line: letters meet only where boxes share more than 3 pixels."""

_SCROLLED = """() => {
  const wrong = [];
  for (const scrolled of document.querySelectorAll(".wide")) {
    scrolled.scrollLeft = 1e6;
    scrolled.scrollIntoView();
    for (const cell of [...scrolled.querySelectorAll("tr > :first-child")].slice(0, 3)) {
      const box = cell.getBoundingClientRect();
      if (box.bottom > innerHeight) continue;
      for (const share of [0.1, 0.5, 0.9]) {
        const top = document.elementFromPoint(box.left + share * box.width, box.top + box.height / 2);
        if (!cell.contains(top)) wrong.push(`${top?.textContent} lies on ${cell.textContent}`);
      }
    }
    scrolled.scrollLeft = 0;
  }
  return wrong;
}"""


def faults(page: Any) -> list[str]:
    """All that is wrong with a page of the laboratory as it stands; nothing if it can be read."""
    over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    wide = [f"the page is {over} pixels wider than its screen"] if over > 0 else []
    return [*wide, *page.evaluate(_FAINT), *page.evaluate(_OVER), *page.evaluate(_SCROLLED)]
