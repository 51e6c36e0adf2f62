"""When a crawl ends, and what could still be expected of it.

figures                what the rules look at, counted page by page
rules                  the rules of paper AR and the budget; each gives its reason in words
forecast               relevant pages among the next fetches, and in reach, each with a 90 % interval
forecast_calibration   how far predicted scores can be trusted
forecaster             the latest forecast of a running crawl
outlook                forecast and calibration in words and as JSON
"""
